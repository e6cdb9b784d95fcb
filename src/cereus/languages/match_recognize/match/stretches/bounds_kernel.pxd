cdef class BoundedRegisters:
    cdef long long[::1] low
    cdef long long[::1] high
    cdef double[::1] low_float
    cdef double[::1] high_float
    cdef int[::1] known

    cdef bint root(self, int to, int a) noexcept nogil
    cdef bint joined(self, bint either, int to, int a, int b) noexcept nogil
    cdef bint chosen(self, int op, int to, int a, int b) noexcept nogil
    cdef bint are_numbers(self, int a, int b) noexcept nogil
    cdef bint size_of(self, bint as_int, int to, int a) noexcept nogil
    cdef bint extreme(self, int op, int to, int a, int b) noexcept nogil
    cdef void compared(self, int op, int to, int a, int b) noexcept nogil
    cdef bint computed(self, int op, int to, int a, int b) noexcept nogil
    cdef double _corner(self, int op, int a, int b, int corner) noexcept nogil
    cdef long long _int_corner(self, int op, int a, int b, int corner) noexcept nogil
