cimport cython


@cython.final
cdef class RanksOfRows:
    # of every percentile: its column, numerator and denominator, and its matrix; of every matrix,
    # how many values come before each row, how many zeros before each place, all values, and how
    # many these are
    cdef const long long[:, ::1] parts
    cdef const int[::1] of
    cdef const long long[:, ::1] before
    cdef const int[:, :, ::1] zeros
    cdef const double[:, ::1] values
    cdef const long long[::1] sizes

    cdef long long count(self, int number, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef double beside(
        self, int number, Py_ssize_t first, Py_ssize_t end, bint above
    ) noexcept nogil
    cdef long long below(
        self, int number, Py_ssize_t first, Py_ssize_t end, long long limit
    ) noexcept nogil
    cdef Py_ssize_t rank_of(self, int m, long long limit) noexcept nogil
    cdef double percentile(
        self, int number, Py_ssize_t first, Py_ssize_t end
    ) noexcept nogil
    cdef double ranked(
        self, int number, Py_ssize_t first, Py_ssize_t end, long long rank
    ) noexcept nogil
