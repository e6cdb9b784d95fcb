cimport cython

from cereus.engine.kernel.kernel cimport Kernel


cdef class ChoosingKernel(Kernel):
    cdef bint latest
    cdef int[::1] choice
    cdef long long[::1] began
    cdef int[::1] jump
    cdef int[::1] length
    cdef bint tied

    # the chosen match: its events, latest first, how many come before the last, and its start
    cdef long long[::1] chosen
    cdef int chosen_depth
    cdef long long chosen_start

    cdef long long _rank_of(self, int c) except? -1 nogil
    # the configurations in which partial matches have arrived at this event
    cdef int[::1] came
    cdef int n_came

    cdef bint _is_left_out(self, int c, int at, int r, int unseen) noexcept nogil
    cdef int _leave_out_rows(self) except? -1 nogil
    cdef int _leave_out_covered(self, int c, int row) except? -1 nogil
    cdef int _step(self, long long e) except? -1 nogil
    @cython.final
    cdef int _leave_out(self, int c) except? -1 nogil
    @cython.final
    cdef bint _outdoes(self, int c, int other) except? -1 nogil
    cdef int _meld(self, int a, int b) except? -1 nogil
    @cython.final
    cdef inline int _before(self, int n) noexcept nogil
    @cython.final
    cdef int _compare(self, int a, int b) except -2 nogil
    @cython.final
    cdef inline bint _undecided(self, int n) noexcept nogil
    @cython.final
    cdef int _choose_in_chain(self, int heap) noexcept nogil
    @cython.final
    cdef int _oldest(self, int n) noexcept nogil
    @cython.final
    cdef bint _in_chain(self, int n, int older) noexcept nogil
    @cython.final
    cdef int _join_chain(self, int n) noexcept nogil
    @cython.final
    cdef int _decide(self, int heap) except? -1 nogil
    @cython.final
    cdef int _best(self) except? -1 nogil
    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef int _set_out(self, int last) except? -1 nogil
    @cython.final
    cdef bint _write(self) except? -1 nogil
    cdef int _sweep(self) except? -1 nogil
