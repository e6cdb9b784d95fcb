cimport cython

from cereus.languages.match_recognize.match.runs.leaping_kernel cimport LeapingRuns


cdef class StillRuns(LeapingRuns):
    # after tries in vain, how many rows are read without one, and where the next is made
    cdef Py_ssize_t failed
    cdef Py_ssize_t next_try

    # how often it was in vain to ask whether all is in vain, and how often it is not asked
    cdef Py_ssize_t vain_failed
    cdef Py_ssize_t vain_pause

    cdef Py_ssize_t quiet_rows(
        self, int here, Py_ssize_t count, long long first_node, long long end_node,
        Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    cdef Py_ssize_t passed_rows(
        self, int here, Py_ssize_t count, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    @cython.final
    cdef bint gives_up(
        self, int here, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    @cython.final
    cdef void pass_blocks(
        self, int here, Py_ssize_t row, Py_ssize_t size, Py_ssize_t block
    ) noexcept nogil
    @cython.final
    cdef bint is_known_dead(self, int here, Py_ssize_t start, Py_ssize_t row) noexcept nogil
    @cython.final
    cdef bint is_still(
        self, int here, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    @cython.final
    cdef bint goes_round(
        self, int here, Py_ssize_t number, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    @cython.final
    cdef bint leaves_loop(
        self, int here, Py_ssize_t number, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    @cython.final
    cdef void pass_row(self, int here, Py_ssize_t row) noexcept nogil
