cimport cython

from cereus.languages.match_recognize.match.runs.conditions_kernel cimport SlotConditions
from cereus.languages.match_recognize.match.runs.dead_kernel cimport DeadRuns
from cereus.languages.match_recognize.match.stretches.stretches_kernel cimport QuietStretches


cdef class WaitingRuns(SlotConditions):
    # the automaton, and which of its states rows allow
    cdef const int[::1] sets
    cdef const unsigned char[:, ::1] alive
    cdef const int[::1] move_starts
    cdef const int[::1] moves
    cdef const unsigned char[::1] last
    cdef const unsigned char[:, ::1] live
    cdef const unsigned char[:, ::1] live_floats
    cdef const long long[::1] initial
    cdef const long long[::1] times
    cdef long long length
    cdef Py_ssize_t slots
    cdef Py_ssize_t float_slots

    # the runs of this row and of the next: state, node; slots are in `cells`
    cdef int[:, ::1] states
    cdef long long[:, ::1] nodes_of
    cdef long long[::1] buckets
    cdef long long[::1] chains
    cdef long long stamp
    cdef long long hashed

    # how runs leap over rows, if they do, and which run does
    cdef bint leaps
    cdef QuietStretches stretches
    cdef Py_ssize_t leaping

    # of slots that hold rows, which rows are alike: the first of them
    cdef const int[::1] alike_of
    cdef const int[:, ::1] alike

    # where runs of earlier starts came to nothing, if that is remembered
    cdef bint remembers
    cdef bint numbered
    cdef DeadRuns dead

    # whether runs count that cannot be completed
    cdef bint timeouts

    cdef bint wait(
        self, int side, Py_ssize_t count, int from_side, Py_ssize_t run, int state, long long node
    ) noexcept nogil
    @cython.final
    cdef long long key(self, int side, Py_ssize_t run, Py_ssize_t slot) noexcept nogil
    @cython.final
    cdef bint is_same(
        self, int side, Py_ssize_t other, Py_ssize_t run, int state
    ) noexcept nogil
    cdef Py_ssize_t bucket(self, int side, Py_ssize_t run, int state) noexcept nogil
    cdef void put(self, int side, Py_ssize_t run, Py_ssize_t bucket) noexcept nogil
    cdef Py_ssize_t still_open(
        self, int side, Py_ssize_t count, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    cdef Py_ssize_t quiet_rows(
        self, int here, Py_ssize_t count, int loop, Py_ssize_t start, Py_ssize_t row,
        Py_ssize_t high
    ) noexcept nogil
    cdef bint is_in_vain(
        self, int here, int loop, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high
    ) noexcept nogil
    cdef bint is_quiet(
        self, int here, int loop, Py_ssize_t start, Py_ssize_t row, Py_ssize_t high, int level
    ) noexcept nogil
    cdef void pass_block(
        self, int here, int loop, Py_ssize_t row, Py_ssize_t size, Py_ssize_t block
    ) noexcept nogil
    cdef bint is_mixed(self, int here, int label, Py_ssize_t block) noexcept nogil
    cdef Py_ssize_t behind_leap(
        self, int here, int loop, Py_ssize_t row, long long node
    ) noexcept nogil
