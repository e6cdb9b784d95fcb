cimport cython

from cereus.engine.kernel.terms_vm cimport Terms


cdef class PastEvents:
    # what is kept of an event of each kind: the numbers of columns, -1 after the last
    cdef int kinds
    cdef int width
    cdef int[:, ::1] kept
    cdef Terms terms

    # the events, and where those of each key and kind are
    cdef long long[:, ::1] rows
    cdef long long used
    cdef long long[::1] begin
    cdef long long[::1] end
    cdef long long[::1] room

    # how many events were looked at for the last answer
    cdef long long looked

    @cython.final
    cdef int _use_rows(self, object rows) except? -1
    @cython.final
    cdef int record(
        self, long long i, long long ordinal, long long measure, long long floor,
        long long[:, ::1] columns, long long e
    ) except? -1 nogil
    @cython.final
    cdef int drop(self, long long i) noexcept nogil
    @cython.final
    cdef int _make_room(self, long long i, long long floor) except? -1 nogil
    @cython.final
    cdef int _gather(self, long long more) except? -1
    @cython.final
    cdef bint none(
        self, long long i, long long after, long long before, long long floor, int program, int c,
        long long e
    ) except? -1 nogil
