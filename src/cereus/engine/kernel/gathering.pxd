cimport cython

from cereus.engine.kernel.kernel cimport Kernel
from cereus.engine.kernel.sliding cimport SlidingCountingKernel


cdef class GatheringKernel(Kernel):
    # the events to choose from, part by part, that of the event at hand first; and the events that
    # are chosen up to each part, as nodes, latest first
    cdef int n_parts
    cdef int[::1] gathered
    cdef int[:, ::1] chosen
    cdef bint combining

    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef bint _set_out(self) except? -1 nogil
    @cython.final
    cdef bint _combine(self) except? -1 nogil
    @cython.final
    cdef int _choose_also(self, int n, int depth) noexcept nogil
    @cython.final
    cdef int _set_path(self) noexcept nogil


cdef class GatheringCountingKernel(SlidingCountingKernel):
    cdef int[::1] gathered

    cdef bint _report(self) except? -1 nogil


cdef bint gather_other_parts(Kernel kernel, int[::1] gathered) noexcept nogil
cdef int part_of_event(Kernel kernel) noexcept nogil
