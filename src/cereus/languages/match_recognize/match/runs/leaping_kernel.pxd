from cereus.languages.match_recognize.match.runs.dead_kernel cimport RememberingRuns
from cereus.languages.match_recognize.match.stretches.stretches_kernel cimport QuietStretches


cdef class LeapingRuns(RememberingRuns):
    # how much was done so far
    cdef long long work

    # how runs leap over rows, if they do, and which do
    cdef bint leaps
    cdef QuietStretches stretches
    cdef const unsigned char[:, ::1] touched
    cdef long long[::1] leaping
    cdef Py_ssize_t loop_count

    cdef bint find_loops(
        self, int here, Py_ssize_t count, long long first_node, long long end_node
    ) noexcept nogil
    cdef bint are_in_vain(
        self, int here, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    cdef bint is_quiet(
        self, int here, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high, int level
    ) noexcept nogil
    cdef bint only_loops(
        self, int here, Py_ssize_t number, Py_ssize_t start, Py_ssize_t row, Py_ssize_t size,
        Py_ssize_t block
    ) noexcept nogil
    cdef bint is_covered(self, int here, Py_ssize_t number, Py_ssize_t move) noexcept nogil
    cdef bint covers(
        self, int here, Py_ssize_t other, Py_ssize_t number, Py_ssize_t move, int state
    ) noexcept nogil
    cdef void pass_block(
        self, int here, Py_ssize_t run, Py_ssize_t row, Py_ssize_t size, Py_ssize_t block
    ) noexcept nogil
    cdef bint is_mixed(
        self, int here, Py_ssize_t run, int label, Py_ssize_t block
    ) noexcept nogil
    cdef Py_ssize_t behind_leap(
        self, int here, Py_ssize_t row, long long first_node, Py_ssize_t done
    ) noexcept nogil
    cdef Py_ssize_t first_done(self, int here) noexcept nogil
