cimport cython

from cereus.languages.match_recognize.match.runs.conditions_kernel cimport SlotConditions


cdef class WaitingRuns(SlotConditions):
    # the automaton, and which of its states rows allow
    cdef const int[::1] sets
    cdef const unsigned char[:, ::1] alive
    cdef const int[::1] move_starts
    cdef const int[::1] moves
    cdef const unsigned char[::1] last
    cdef const long long[::1] least
    cdef const long long[::1] most
    cdef const int[::1] again
    cdef const unsigned char[:, ::1] live
    cdef const unsigned char[:, ::1] live_floats
    cdef const long long[::1] initial
    cdef const long long[::1] times
    cdef long long length
    cdef Py_ssize_t slots
    cdef Py_ssize_t float_slots

    # at how much work it is seen next whether the search was interrupted
    cdef long long look_at

    # the runs of this row and of the next: state, node; slots are in `cells`
    cdef int[:, ::1] states
    cdef long long[:, ::1] nodes_of
    cdef long long[::1] buckets
    cdef long long[::1] chains
    cdef long long stamp
    cdef long long hashed

    # the rows of runs: what came before each, its state, and how many rows it stands for
    cdef long long[::1] parents
    cdef short[::1] node_states
    cdef long long[::1] repeats

    # of slots that hold rows, which rows are alike: the first of them; what tells the slots of the
    # run that was hashed last from others
    cdef const int[::1] alike_of
    cdef const int[:, ::1] alike
    cdef long long[::1] keys

    # whether runs count that cannot be completed; which come too late, once that is known
    cdef bint timeouts
    cdef bint prunes
    cdef long long deadline
    cdef const long long[::1] deadline_times
    cdef const int[:, ::1] latest

    @cython.final
    cdef bint in_time(self, Py_ssize_t start, Py_ssize_t row, int state) noexcept nogil
    @cython.final
    cdef long long round_of(self, int side, Py_ssize_t run) noexcept nogil
    @cython.final
    cdef bint may_leave(self, int state, long long rounds) noexcept nogil
    @cython.final
    cdef Py_ssize_t rows_to_leave(self, int side, Py_ssize_t run) noexcept nogil
    @cython.final
    cdef bint may_reach(self, int state, long long rounds) noexcept nogil
    @cython.final
    cdef long long later_round(
        self, int state, long long rounds, Py_ssize_t rows
    ) noexcept nogil
    cdef long long next_round(
        self, int side, Py_ssize_t run, int state, Py_ssize_t move
    ) noexcept nogil
    cdef bint may_end(self, int side, Py_ssize_t run, int state) noexcept nogil
    cdef bint wait(
        self, int side, Py_ssize_t count, int from_side, Py_ssize_t run, int state,
        long long rounds, long long node
    ) noexcept nogil
    @cython.final
    cdef void copy_slots(
        self, int side, Py_ssize_t run, int to_side, Py_ssize_t to
    ) noexcept nogil
    @cython.final
    cdef long long key(self, int side, Py_ssize_t run, Py_ssize_t slot) noexcept nogil
    @cython.final
    cdef bint is_same(
        self, int side, Py_ssize_t other, Py_ssize_t run, int state
    ) noexcept nogil
    cdef unsigned long long hashed_slots(
        self, int side, Py_ssize_t run, int state
    ) noexcept nogil
    cdef Py_ssize_t bucket(self, int side, Py_ssize_t run, int state) noexcept nogil
    cdef void put(self, int side, Py_ssize_t run, Py_ssize_t bucket) noexcept nogil
