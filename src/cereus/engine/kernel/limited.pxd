cimport cython

from cereus.engine.kernel.scopes cimport ScopedStepper


cdef class LimitedStepper(ScopedStepper):
    # the last move whose values are all new: where it is in the table, the event, and the start
    cdef int sent_at
    cdef long long sent_event
    cdef long long sent_start

    @cython.final
    cdef bint _all_copies(self, int at, int how) noexcept nogil
    @cython.final
    cdef bint _is_plain(self, int row) noexcept nogil
    @cython.final
    cdef bint _arrive_alike(self, int row, int other) noexcept nogil
    @cython.final
    cdef bint _is_covered(self, int c, long long start) noexcept nogil
