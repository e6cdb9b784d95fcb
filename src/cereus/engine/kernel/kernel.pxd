cimport cython

from cereus.engine.kernel.keyed cimport KeyedStepper


cdef class Kernel(KeyedStepper):
    # the events of a batch, sorted by group (one group is one key), and those remembered
    cdef long long[::1] shown
    cdef long long[::1] group_ends
    cdef long long known_from
    cdef long long[::1] known_floors

    # what the plan needs, and its limits
    cdef bint ends_at_marks
    cdef bint consuming
    cdef bint with_labels
    cdef bint must_show
    cdef long long limit
    cdef long long limit_if_distinct
    cdef long long limit_anyway
    cdef long long max_nodes
    cdef long long max_configurations
    cdef long long max_matches
    cdef bint cut_short
    cdef long long report_from

    # the accepting configurations, one after the other
    cdef bint reporting
    cdef int report_next
    cdef int accepted_from
    cdef long long reported

    # a depth-first walk that can stop and go on: the choices it has still to make, of a node at a
    # depth, and what is chosen above
    cdef int[::1] stack_node
    cdef int[::1] stack_depth
    cdef int height
    cdef long long[::1] path
    cdef int[::1] path_label
    cdef long long walk_bound
    cdef long long walk_end
    cdef long long walk_at

    # the chunk to write to
    cdef long long[::1] out_events
    cdef int[::1] out_labels
    cdef int[::1] out_offsets
    cdef long long[::1] out_first
    cdef long long[::1] out_last
    cdef long long[::1] out_at
    cdef int n_matches
    cdef int n_cells

    @cython.final
    cdef int _run(self) except? -1 nogil
    cdef long long _in_memory(self) noexcept nogil
    @cython.final
    cdef int _tidy_carry(self) except? -1 nogil
    @cython.final
    cdef inline int _leave_event(self) except? -1 nogil
    @cython.final
    cdef int _next_accepted(self, int c) noexcept nogil
    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef bint _report_end(self, int c) except? -1 nogil
    @cython.final
    cdef bint _reported(self) except? -1 nogil
    @cython.final
    cdef int _push(self, int n, int depth) except? -1 nogil
    @cython.final
    cdef bint _walk(self) except? -1 nogil
    @cython.final
    cdef int _room_to_walk(self) except? -1 nogil
    @cython.final
    cdef int _walk_on(self) except? -1 nogil
    cdef int _push_siblings(self, int n, int depth) except? -1 nogil
    @cython.final
    cdef bint _shows(self, int depth) except? -1 nogil
    cdef bint _emit(self, int first, int depth) except? -1 nogil
