cimport cython


@cython.final
cdef class OrderedConfigurations:
    # of every state: by which slot its configurations are ordered, and the top of their heap
    cdef int[::1] by
    cdef int[::1] top
    # which of them can be compared by rank, and whether some cannot
    cdef long long[::1] group
    cdef unsigned char[::1] mixed

    # of every configuration: what it is ordered by, and its place in the heap
    cdef long long[::1] key
    cdef long long[::1] rank
    cdef long long[::1] best
    cdef int[::1] left
    cdef int[::1] right
    cdef int[::1] up

    # a walk: the state, the greatest key that is met, what is still to be met, and what has gone
    cdef int walked
    cdef long long bound
    cdef int[::1] stack
    cdef int n_stack
    cdef int[::1] gone
    cdef int n_gone
    # how many configurations walks to the best have looked at
    cdef long long looked

    cdef int room_for_states(self, int states) except? -1
    cdef int room_for(self, int configurations) except? -1
    cdef int order(self, int s, int by) noexcept nogil
    cdef int forget(self, int s) noexcept nogil
    cdef int enter(self, int s, int c, long long value) noexcept nogil
    cdef int set_rank(self, int c, long long rank) noexcept nogil
    cdef int set_group(self, int s, long long group) noexcept nogil
    cdef int leave(self, int s, int c) noexcept nogil
    cdef int _joined(self, int a, int b) noexcept nogil
    cdef int begin(self, int s, long long value, bint strictly) noexcept nogil
    cdef inline int _push(self, int c) noexcept nogil
    cdef int step(self) noexcept nogil
    cdef int walk_again(self, int s) noexcept nogil
    cdef int step_to_best(self, long long least) noexcept nogil
    cdef int end(self) noexcept nogil
