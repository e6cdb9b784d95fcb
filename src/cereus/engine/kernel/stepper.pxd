cimport cython

from cereus.engine.kernel.ordered cimport OrderedConfigurations
from cereus.engine.kernel.past cimport PastEvents
from cereus.engine.kernel.sets cimport ValueSets
from cereus.engine.kernel.terms_vm cimport Terms


cdef class Stepper:
    # the automaton, grown on demand by `table`
    cdef object table
    cdef int initial
    cdef bint ambiguous
    cdef long long enough
    cdef long long n_completed
    cdef bint ends_apart
    cdef bint ranked
    cdef long long n_ended
    cdef int[:, ::1] head
    cdef int[:, ::1] moving
    cdef int[::1] n_moving
    cdef int[::1] edges
    cdef unsigned char[::1] accepting
    cdef unsigned char[::1] final
    cdef unsigned char[::1] closing
    cdef int closed
    cdef int[::1] gap_to
    cdef int[::1] gap_copy
    cdef int[::1] slot_counts
    cdef int[::1] hashed_slots
    cdef int[::1] outer
    cdef int[::1] programs

    # sets that slots have the numbers of
    cdef ValueSets sets

    # what evaluates terms, and the answer to the last one of the configuration at hand
    cdef Terms terms
    cdef int answered
    cdef bint answer

    # events of the past that conditions ask about: of which classes (bits for the kinds), which kinds
    # are remembered while nothing has begun, and the key at hand
    cdef PastEvents past
    cdef int n_past
    cdef tuple past_bits
    cdef int past_always
    cdef int[::1] recorded
    cdef int key

    # the forest: nodes as int64, and the same memory seen as int32; and both without rows, which
    # saves a multiplication where every node of a match is visited
    cdef long long[:, ::1] wide
    cdef int[:, ::1] thin
    cdef long long[::1] flat_wide
    cdef int[::1] flat_thin
    cdef int used
    cdef int made_now

    # the states in use, and the configurations of each
    cdef int[::1] active
    cdef unsigned char[::1] is_active
    cdef int[::1] first
    cdef int n_active
    cdef int[::1] root
    cdef int[::1] empty
    cdef long long[:, ::1] values
    cdef int[::1] state_of
    cdef int[::1] following
    cdef int[::1] preceding
    cdef int[::1] chain
    cdef int[::1] covered
    cdef int[::1] done_at
    cdef long long[::1] done_when
    cdef long long losses
    cdef int[::1] buckets
    cdef OrderedConfigurations ordered
    cdef long long order_from
    cdef int n_slots
    cdef int free
    cdef int n_configurations
    cdef int n_accepting
    cdef int made

    # configurations on their way, their values, when their latest partial match began; and the
    # order in which they arrive
    cdef int[:, ::1] pending
    cdef long long[:, ::1] pending_values
    cdef long long[::1] pending_starts
    cdef int[::1] arrivals
    cdef int n_pending

    # the events of a batch, which of them is read, and what is out of its window
    cdef int[::1] classes
    cdef long long[::1] positions
    cdef long long[::1] measures
    cdef long long[::1] floors
    cdef long long[:, ::1] columns
    cdef int[::1] waiting
    cdef long long base
    cdef long long event
    cdef long long position
    cdef long long bound

    # how many configurations have read an event, when to look for signals next, and how many may
    # read one event
    cdef long long steps
    cdef long long look_at
    cdef long long look_every
    cdef long long max_steps
    cdef bint too_many_steps

    # what the plan needs
    cdef bint windowed
    cdef bint open_ended
    cdef bint closes
    cdef bint expiring
    cdef bint over
    cdef bint watching
    cdef bint scoped
    cdef bint limited
    cdef bint growing
    cdef bint plain

    @cython.final
    cdef int _look_up(self) except? -1 nogil
    @cython.final
    cdef inline int _worked(self, long long much) except? -1 nogil
    @cython.final
    cdef inline int _look_if_due(self) except? -1 nogil
    @cython.final
    cdef int _room_for_configurations(self, int size) except? -1
    @cython.final
    cdef int _set_nodes(self, object nodes) except? -1
    @cython.final
    cdef inline int _node(self, long long ordinal, long long start, int link, int label) except? -1 nogil
    cdef int _meld(self, int a, int b) except? -1 nogil
    @cython.final
    cdef inline int _copied(self, int n) except? -1 nogil
    @cython.final
    cdef inline int _rank(self, long long n) noexcept nogil
    @cython.final
    cdef inline int _label(self, long long n) noexcept nogil
    @cython.final
    cdef inline long long _start(self, long long n) noexcept nogil
    @cython.final
    cdef inline int _link(self, long long n) noexcept nogil
    @cython.final
    cdef inline void _set_children(self, int n, int one, int other) noexcept nogil
    @cython.final
    cdef int _reach(self, int n, long long bound, long long[::1] bounds, int[::1] moved) noexcept nogil
    @cython.final
    cdef int _reach_below(self, long long[::1] bounds, int[::1] moved) except? -1 nogil
    @cython.final
    cdef int _move_live(self, int[::1] moved) except? -1 nogil
    cdef int _step(self, long long e) except? -1 nogil
    @cython.final
    cdef bint _close(self) except? -1 nogil
    @cython.final
    cdef int _unstarted(self) noexcept nogil
    @cython.final
    cdef inline bint _read(self, int s, int letter, long long e) except? -1 nogil
    @cython.final
    cdef int _read_in_order(self, int s, long long at, long long e) except? -1 nogil
    @cython.final
    cdef int _read_best(self, int s, long long at, long long e) except? -1 nogil
    cdef int _find_best(self, int s) except? -2 nogil
    cdef int _step_to_best(self, long long least) except? -2 nogil
    cdef long long _rank_of(self, int c) except? -1 nogil
    cdef long long _rank_in_scope(self, int c) noexcept nogil
    cdef bint _ranks(self, int s) noexcept nogil
    @cython.final
    cdef bint _goes(self, int c, int s, long long at, long long e) except? -1 nogil
    @cython.final
    cdef long long _goodness(self, int c) except? -1 nogil
    @cython.final
    cdef bint _wants_best(self, int s, long long at) noexcept nogil
    @cython.final
    cdef int _note_rank(self, int c) except? -1 nogil
    @cython.final
    cdef int _put_in_order(self, int s, int by) except? -1 nogil
    @cython.final
    cdef inline bint _has_enough(self, long long at) noexcept nogil
    @cython.final
    cdef bint _completes_more(self, long long at) noexcept nogil
    @cython.final
    cdef inline int _go(self, int c, int s, long long at, long long e) except? -1 nogil
    @cython.final
    cdef inline bint _goes_plainly(self, int c, long long at) except? -1 nogil
    @cython.final
    cdef inline bint _holds(self, long long at, int c, long long e) except? -1 nogil
    @cython.final
    cdef bint _all_members(self, int op, int slot, int what, int c, long long e) except? -1 nogil
    @cython.final
    cdef bint _absent(self, int at, int c, long long e) except? -1 nogil
    @cython.final
    cdef int _record(self, int recorded, long long e) except? -1 nogil
    @cython.final
    cdef inline int _copy(self, long long at, int c, long long e, int row) except? -1 nogil
    cdef int _mark(self, int label, int r, int unseen) except? -1 nogil
    @cython.final
    cdef inline int _send(
        self, int to, int label, int r, int unseen, int c, int copy, long long e
    ) except? -1 nogil
    @cython.final
    cdef inline int _put_pending(self, int to, int label, int r, int unseen) except? -1 nogil
    @cython.final
    cdef inline int _settle(self) except? -1 nogil
    cdef int _end(self, int label, int r, int unseen) except? -1 nogil
    cdef bint _outlives(self, int c) noexcept nogil
    cdef int _note_scope(self, int row, int c) except? -1 nogil
    cdef int _choose(self) except? -1 nogil
    cdef int _join_scope(self, int to, int row) except? -1 nogil
    cdef bint _is_left_out(self, int c, int at, int r, int unseen) noexcept nogil
    cdef int _leave_out_rows(self) except? -1 nogil
    cdef int _leave_out_covered(self, int c, int row) except? -1 nogil
    @cython.final
    cdef int _sort_arrivals(self) except? -1 nogil
    @cython.final
    cdef inline long long _bucket(self, int s, long long value) noexcept nogil
    @cython.final
    cdef inline long long _bucket_of(self, int s, long long[:, ::1] values, int row) noexcept nogil
    @cython.final
    cdef inline int _find(self, int s, int row) noexcept nogil
    @cython.final
    cdef inline int _find_from(self, int c, int s, int row) noexcept nogil
    @cython.final
    cdef int _new(self, int s, int row) except? -1 nogil
    @cython.final
    cdef int _enter_chain(self, int c) except? -1 nogil
    @cython.final
    cdef int _drop(self, int c) except? -1 nogil
    @cython.final
    cdef inline int _later(self, int a, int b) noexcept nogil
    @cython.final
    cdef int _forget_empty(self) except? -1 nogil
    @cython.final
    cdef int _skip(self, long long skipped) except? -1 nogil
    @cython.final
    cdef int _begin(self) except? -1 nogil
    @cython.final
    cdef int _drop_all(self) except? -1 nogil


cdef int double_nodes(Stepper stepper) except? -1 nogil
cdef int double_pending(Stepper stepper) except? -1 nogil
