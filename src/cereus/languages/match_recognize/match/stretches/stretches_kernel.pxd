cimport cython

from cereus.languages.match_recognize.match.stretches.bounds_kernel cimport BoundedRegisters
from cereus.languages.match_recognize.match.stretches.lines_kernel cimport LinesOfRows
from cereus.languages.match_recognize.match.stretches.ranks_kernel cimport RanksOfRows


@cython.final
cdef class QuietStretches(BoundedRegisters):
    # the conditions of a clause, and its rows
    cdef const long long[::1] constant_ints
    cdef const double[::1] constant_floats
    cdef const int[::1] code_starts
    cdef const int[:, ::1] code
    cdef const long long[:, ::1] ints
    cdef const double[:, ::1] floats
    cdef const unsigned char[:, ::1] valid
    cdef Py_ssize_t none
    cdef long long number
    cdef RanksOfRows ranks

    # of every column and block: bounds, whether values are there, bounds of the sums of its first
    # rows; of every block and state, whether it is possible; the first block of each size; and the
    # states in which a run may leap
    cdef const long long[:, ::1] low_ints
    cdef const long long[:, ::1] high_ints
    cdef const double[:, ::1] low_floats
    cdef const double[:, ::1] high_floats
    cdef const unsigned char[:, ::1] any_valid
    cdef const unsigned char[:, ::1] all_valid
    cdef const long long[:, ::1] valid_counts
    cdef const double[:, ::1] low_sums
    cdef const double[:, ::1] high_sums
    cdef const double[:, ::1] spreads
    cdef const long long[:, ::1] totals
    cdef const unsigned char[:, ::1] any_alive
    cdef const unsigned char[:, ::1] all_alive
    cdef const long long[::1] starts
    cdef const unsigned char[::1] loops

    # what a row of a variable does to each slot
    cdef const unsigned char[:, ::1] agree
    cdef const int[:, ::1] kinds
    cdef const int[:, ::1] columns
    cdef const int[::1] counts
    cdef const int[::1] places
    cdef const int[:, ::1] float_kinds
    cdef const int[:, ::1] float_columns
    cdef const int[::1] float_counts

    # what is asked: the condition of a variable, for a run of a start that waits in a loop of
    # another, in rows of a block
    cdef int label
    cdef int loop
    cdef int side
    cdef Py_ssize_t run
    cdef Py_ssize_t start
    cdef Py_ssize_t row
    cdef Py_ssize_t size
    cdef Py_ssize_t block
    cdef Py_ssize_t exact

    # conditions that are linear in totals
    cdef bint has_lines
    cdef LinesOfRows lines
    cdef Py_ssize_t skipped
    cdef long long tried
    cdef long long helped

    # the slots of runs
    cdef long long[:, :, ::1] cells
    cdef double[:, :, ::1] float_cells

    cdef int always_alive(self, Py_ssize_t block, int state) noexcept nogil
    cdef int truth(
        self, int label, int loop, int side, Py_ssize_t run, Py_ssize_t start, Py_ssize_t row,
        Py_ssize_t size, Py_ssize_t block
    ) noexcept nogil
    cdef int _by_bounds(self) noexcept nogil
    cdef void _exactly(self, int to, int column, Py_ssize_t at) noexcept nogil
    cdef bint _behind(self, int to, int column, Py_ssize_t back) noexcept nogil
    cdef bint _in_slot(self, int to, int column, int slot) noexcept nogil
    cdef bint _in_tail(self, int to, int column, int slot) noexcept nogil
    cdef bint _in_head(self, int to, int column, int slot) noexcept nogil
    cdef bint keeps_row(
        self, int kind, int column, Py_ssize_t row, Py_ssize_t block
    ) noexcept nogil
    cdef bint _percentile(self, int to, int number, int slot) noexcept nogil
    cdef bint _int_in_slot(self, int to, int slot) noexcept nogil
    cdef bint _int_sum(self, int to, int column, bint by_label, bint by_loop) noexcept nogil
    cdef bint _float_in_slot(self, int to, int slot) noexcept nogil
    cdef bint _average(self, bint of_ints, int to, int slot, int count) noexcept nogil
    cdef bint _variance(self, bint sample, int to, int slot, int count) noexcept nogil
    cdef bint _distinct(self, int to, int number, int slot) noexcept nogil
