cimport cython

from cereus.engine.kernel.scopes cimport ScopedStepper


cdef class LimitedStepper(ScopedStepper):
    @cython.final
    cdef bint _is_plain(self, int row) noexcept nogil
    @cython.final
    cdef bint _arrive_alike(self, int row, int other) noexcept nogil
    @cython.final
    cdef bint _is_covered(self, int c, long long start) noexcept nogil
