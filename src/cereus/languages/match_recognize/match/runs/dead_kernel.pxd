cimport cython


@cython.final
cdef class DeadRuns:
    # of every entry: the start, the row, the state, and the slots; those that hold floats
    cdef long long[:, ::1] entries
    cdef double[:, ::1] float_entries

    # entries of starts before this one do not count; how many rows of its match a run must have
    # before it is looked up; for how many rows nothing is, and how often something was found
    cdef long long since
    cdef Py_ssize_t back
    cdef long long pause
    cdef long long next_pause
    cdef long long last_start
    cdef long long starts
    cdef long long hits

    # of slots that hold rows, which rows are alike
    cdef const int[::1] alike_of
    cdef const int[:, ::1] alike

    # the slots of runs
    cdef long long[:, :, ::1] cells
    cdef double[:, :, ::1] float_cells

    cdef long long key(self, int side, Py_ssize_t run, Py_ssize_t slot) noexcept nogil
    cdef bint is_dead(
        self, int side, Py_ssize_t run, int state, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
