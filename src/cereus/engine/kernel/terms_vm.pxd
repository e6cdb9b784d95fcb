cimport cython


cdef class Terms:
    # what terms are, and what they read; arrays of 64 bits are seen as integers and as floats
    cdef int[::1] programs
    cdef long long[::1] constants
    cdef double[::1] float_constants
    cdef long long[:, ::1] values
    cdef double[:, ::1] float_values
    cdef long long[:, ::1] columns
    cdef double[:, ::1] float_columns
    cdef long long[:, ::1] past
    cdef double[:, ::1] float_past
    cdef long long past_row
    cdef long long[::1] members
    cdef double[::1] float_members
    cdef long long member

    # the stack
    cdef long long[::1] integers
    cdef double[::1] floats
    cdef long long[::1] float_bits
    cdef unsigned char[::1] known

    # whether every sum of integers must fit 64 bits, and whether one did not
    cdef bint sums_must_fit
    cdef bint overflowed

    # functions; their known values by function and operands, in an open hash table; and what
    # computes the others
    cdef int[:, ::1] functions
    cdef int n_functions
    cdef long long[:, ::1] memo
    cdef long long[::1] memo_values
    cdef double[::1] memo_floats
    cdef long long memo_used
    cdef long long[::1] sought
    cdef object computing

    @cython.final
    cdef bint is_true(self, int at, int c, long long e) except? -1 nogil
    @cython.final
    cdef bint is_true_of_past(self, int at, int c, long long e, long long row) except? -1 nogil
    @cython.final
    cdef bint is_true_of_member(self, int at, int c, long long e, long long member) except? -1 nogil
    @cython.final
    cdef long long computed(self, int at, int c, long long e) except? -4611686018427387905 nogil
    @cython.final
    cdef long long total(self, int how, int slot, int column, int c, long long e) except? -4611686018427387905 nogil
    @cython.final
    cdef inline bint _compares(self, int first, int op, int c, long long e) except? -1 nogil
    @cython.final
    cdef inline long long _integer(self, int step, int c, long long e) noexcept nogil
    @cython.final
    cdef inline double _float(self, int step, int c, long long e) noexcept nogil
    @cython.final
    cdef inline int _load(self, int top, long long integer, double number) except? -1 nogil
    @cython.final
    cdef int _change(self, int op, int t) except? -1 nogil
    @cython.final
    cdef int _combine(self, int op, int t) except? -1 nogil
    @cython.final
    cdef int _apply(self, int op, int t) noexcept nogil
    @cython.final
    cdef int _raise_to(self, int t, double x, double y) noexcept nogil
    @cython.final
    cdef int _calculate(self, int op, int t, long long a, long long b) except? -1 nogil
    @cython.final
    cdef int _join(self, int t, long long low, long long high) except? -1 nogil
    @cython.final
    cdef int _look_up(self, int which, int t) except? -1 nogil
    @cython.final
    cdef long long _place(self, long long[::1] key) noexcept nogil
    @cython.final
    cdef int _compute(self, int which) except? -1
    @cython.final
    cdef int _know(self, long long[:, ::1] keys, long long[::1] values) except? -1
    @cython.final
    cdef int _grow_memo(self, long long room) except? -1
    @cython.final
    cdef int _forget_values(self, long long size) except? -1
    @cython.final
    cdef int _distance(self, int t) except? -1 nogil
    @cython.final
    cdef inline int _choose(self, int t) noexcept nogil
    @cython.final
    cdef bint _computes(self, int at, int c, long long e) except? -1 nogil


cdef double _rounded(double value, double units) noexcept nogil
cdef long long _rest(long long value) noexcept nogil
cdef bint _is_read(int op) noexcept nogil
cdef bint _compared(int op, bint less, bint equal, bint greater) noexcept nogil
