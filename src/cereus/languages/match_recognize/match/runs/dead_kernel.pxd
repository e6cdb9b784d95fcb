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
    cdef long long looks
    cdef long long hits

    # the slots of runs
    cdef long long[:, :, ::1] cells
    cdef double[:, :, ::1] float_cells

    cdef bint is_dead(
        self, int side, Py_ssize_t run, int state, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
