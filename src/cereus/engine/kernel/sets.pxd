cimport cython

from cereus.engine.kernel.terms_vm cimport Terms


@cython.final
cdef class ValueSets:
    # the members of all sets; where those of each are, how many, and what it is found by
    cdef long long[::1] members
    cdef long long used
    cdef long long[::1] begin
    cdef int[::1] size
    cdef long long[::1] code

    # the sets of a bucket, and the numbers that are free, as chains
    cdef int[::1] chain
    cdef int[::1] buckets
    cdef int made
    cdef int free

    # which set a set became lately, with one more value
    cdef int[::1] recent_set
    cdef long long[::1] recent_value
    cdef int[::1] recent_with

    # when to look next which sets are needed, and what reads members
    cdef long long sweep_at
    cdef Terms terms

    cdef int _use_members(self, object members) except? -1
    cdef int with_value(self, long long n, long long value) except? -1 nogil
    cdef bint has(self, long long n, long long value) noexcept nogil
    cdef bint has_null(self, long long n) noexcept nogil
    cdef inline long long _place(self, long long n, long long value) noexcept nogil
    cdef inline unsigned long long _mixed(self, long long value) noexcept nogil
    cdef inline long long _share(self, long long value) noexcept nogil
    cdef int _added(
        self, long long n, long long value, long long size, long long below
    ) except? -1 nogil
    cdef int _known(self, long long code, long long size) noexcept nogil
    cdef int _kept(self, long long code, long long size) except? -1 nogil
    cdef inline int _enter(self, int n) noexcept nogil
    cdef int _room_for(self, int sets) except? -1
    cdef int _find_anew(self) except? -1
