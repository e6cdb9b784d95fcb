cimport cython


@cython.final
cdef class LinesOfRows:
    # of every line: which loops and variables it belongs to, its height at every row, how far that
    # may be off, and the totals of the run that it asks for
    cdef const int[:, ::1] firsts
    cdef const int[:, ::1] ends
    cdef const double[:, ::1] intercepts
    cdef const double[:, ::1] slopes
    cdef const double[::1] margins
    cdef const int[::1] added_starts
    cdef const int[:, ::1] added
    cdef const double[::1] coefficients
    cdef const double[:, ::1] before

    # the upper envelopes of blocks
    cdef const long long[::1] starts
    cdef const long long[:, ::1] hull_starts
    cdef const double[::1] hull_slopes
    cdef const double[::1] hull_intercepts

    # the slots of runs
    cdef long long[:, :, ::1] cells
    cdef double[:, :, ::1] float_cells

    cdef bint never(
        self, int label, int loop, int side, Py_ssize_t run, Py_ssize_t start, Py_ssize_t row,
        Py_ssize_t size, Py_ssize_t skipped
    ) noexcept nogil
    cdef bint is_below(
        self, int line, double x, double level, Py_ssize_t row, Py_ssize_t end
    ) noexcept nogil
    cdef double greatest(self, int line, Py_ssize_t block, double x) noexcept nogil
