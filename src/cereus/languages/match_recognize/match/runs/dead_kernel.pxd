from cereus.languages.match_recognize.match.runs.waiting_kernel cimport WaitingRuns


cdef class RememberingRuns(WaitingRuns):
    # of every entry: the start, the row, the state, and the slots; those that hold floats
    cdef long long[:, ::1] entries
    cdef double[:, ::1] float_entries

    # whether places are remembered; entries of starts before `since` do not count
    cdef bint remembers
    cdef bint numbered
    cdef long long since

    # how many rows of its match a run must have before it is looked up, and at which rows it is;
    # for how many rows nothing is, and how often something was there
    cdef Py_ssize_t back
    cdef Py_ssize_t sparse
    cdef long long pause
    cdef long long next_pause
    cdef long long last_start
    cdef long long starts_seen
    cdef long long hits

    cdef void forget_before(self, Py_ssize_t start) noexcept nogil
    cdef bint is_dead(
        self, int side, Py_ssize_t run, int state, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    cdef bint is_place(
        self, Py_ssize_t at, int side, Py_ssize_t run, int state, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
    cdef bint looks_up(self, Py_ssize_t start, Py_ssize_t row) noexcept nogil
    cdef void count_start(self, Py_ssize_t start) noexcept nogil
    cdef Py_ssize_t still_open(
        self, int side, Py_ssize_t count, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
