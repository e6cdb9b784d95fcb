from cereus.languages.match_recognize.match.stretches.ranks_kernel cimport RanksOfRows


cdef class SlotConditions:
    # the conditions of a clause, what updates slots, and the rows
    cdef const int[::1] labels
    cdef const long long[:, ::1] ints
    cdef const double[:, ::1] floats
    cdef const unsigned char[:, ::1] valid
    cdef const long long[::1] constant_ints
    cdef const double[::1] constant_floats
    cdef const int[::1] update_starts
    cdef const int[:, ::1] updates
    cdef const int[::1] code_starts
    cdef const int[:, ::1] code
    cdef Py_ssize_t none
    cdef long long number
    cdef RanksOfRows ranks

    # the slots of runs, and the registers
    cdef long long[:, :, ::1] cells
    cdef double[:, :, ::1] float_cells
    cdef long long[:, :, ::1] float_bits
    cdef long long[::1] registers
    cdef double[::1] float_registers
    cdef int[::1] known

    cdef void update(self, int side, Py_ssize_t run, int state, Py_ssize_t row) noexcept nogil
    cdef void spread(
        self, int side, Py_ssize_t run, int slot, int column, int count, Py_ssize_t row
    ) noexcept nogil
    cdef bint is_better(
        self, int kind, int column, Py_ssize_t row, Py_ssize_t other
    ) noexcept nogil
    cdef bint is_number(self, int column, Py_ssize_t row) noexcept nogil
    cdef bint holds(
        self, int side, Py_ssize_t run, int state, Py_ssize_t start, Py_ssize_t row
    ) noexcept nogil
