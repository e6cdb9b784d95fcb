cimport cython

from cereus.languages.match_recognize.match.runs.still_kernel cimport StillRuns
from cereus.languages.match_recognize.match.stretches.stretches_kernel cimport QuietStretches


cdef class SteadyRuns(StillRuns):
    # the loops in which slots stay as they are; of those that wait for rows of a key, their numbers
    # and the slot that holds a row with it
    cdef bint has_steady
    cdef const unsigned char[::1] steady
    cdef const int[::1] key_loops
    cdef const int[::1] key_slots

    # of every such loop and row: the group of rows that the row asks for, and the next row that
    # the loop cannot read; where groups begin, and their rows; blocks of rows in this order
    cdef const int[:, ::1] groups
    cdef const int[:, ::1] unreadable
    cdef const long long[::1] group_starts
    cdef const int[::1] order
    cdef QuietStretches by_key

    # comparisons with what stays the same while a run waits, and with what: whether it is known
    cdef const int[:, ::1] part_starts
    cdef const int[:, ::1] parts
    cdef const unsigned char[:, ::1] complete
    cdef long long[::1] levels
    cdef double[::1] float_levels
    cdef int[::1] known_levels

    # the first row behind the window of a start
    cdef Py_ssize_t late

    @cython.final
    cdef bint are_steady(self, int here) noexcept nogil
    @cython.final
    cdef Py_ssize_t steady_rows(
        self, int here, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    @cython.final
    cdef Py_ssize_t behind_window(self, Py_ssize_t start, Py_ssize_t high) noexcept nogil
    @cython.final
    cdef Py_ssize_t next_stir(
        self, int here, Py_ssize_t number, Py_ssize_t start, Py_ssize_t row, Py_ssize_t bound,
        Py_ssize_t high
    ) noexcept nogil
    @cython.final
    cdef Py_ssize_t place_of(
        self, Py_ssize_t first, Py_ssize_t end, Py_ssize_t row
    ) noexcept nogil
    @cython.final
    cdef Py_ssize_t stir_in(
        self, QuietStretches blocks, int here, Py_ssize_t number, Py_ssize_t start,
        Py_ssize_t place, Py_ssize_t end, Py_ssize_t bound
    ) noexcept nogil
    @cython.final
    cdef bint is_in_vain(
        self, QuietStretches blocks, int here, Py_ssize_t number, Py_ssize_t start,
        Py_ssize_t place, Py_ssize_t end
    ) noexcept nogil
    @cython.final
    cdef bint is_calm(
        self, QuietStretches blocks, int here, Py_ssize_t number, Py_ssize_t start,
        Py_ssize_t place, Py_ssize_t size, Py_ssize_t block, Py_ssize_t exact
    ) noexcept nogil
    @cython.final
    cdef void read_levels(
        self, int here, Py_ssize_t run, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    @cython.final
    cdef int by_levels(
        self, QuietStretches blocks, int label, int again, Py_ssize_t block, Py_ssize_t exact
    ) noexcept nogil
    @cython.final
    cdef int compared(
        self, int number, long long low, long long high, double low_float, double high_float
    ) noexcept nogil
    @cython.final
    cdef int truth(
        self, QuietStretches blocks, int here, Py_ssize_t run, int state, Py_ssize_t start,
        Py_ssize_t place, Py_ssize_t size, Py_ssize_t block, Py_ssize_t exact
    ) noexcept nogil
