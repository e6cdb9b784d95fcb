cimport cython

from cereus.engine.kernel.choosing cimport ChoosingKernel


cdef class WatchingKernel(ChoosingKernel):
    cdef long long[::1] began_at

    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef int _drop_older(self, long long began) except? -1 nogil
