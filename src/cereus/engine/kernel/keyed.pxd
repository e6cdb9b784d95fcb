cimport cython

from cereus.engine.kernel.limited cimport LimitedStepper


cdef class KeyedStepper(LimitedStepper):
    # the configurations of every key but the one that is read
    cdef long long[::1] carry_from
    cdef long long[::1] carry_to
    cdef long long[:, ::1] carry
    cdef long long n_carry
    cdef long long carry_at

    # of every key: the position of its last event, and what was out of the window then
    cdef long long[::1] last_position
    cdef long long[::1] last_floor

    # of every key: after how many consuming matches its configurations were put down; there have
    # been `epoch` of them, and what was put down before the last has been consumed
    cdef bint consuming_all
    cdef long long epoch
    cdef long long[::1] epoch_of

    # the keys of this batch, and whether the configurations of one are taken up
    cdef int[::1] key_of
    cdef long long group
    cdef bint loaded

    # when to sweep next, at the earliest, and how often it was done
    cdef int sweep_at
    cdef int sweep_from
    cdef long long sweeps
    cdef long long nodes_swept

    cdef int _take_up(self, int key) except? -1 nogil
    cdef int _save(self, int key) except? -1 nogil
    cdef int _sweep(self) except? -1 nogil
    @cython.final
    cdef int _sweep_and_count(self) except? -1 nogil
    @cython.final
    cdef int _sweep_sets(self) except? -1
    @cython.final
    cdef bint _row_outlives(self, long long i) noexcept nogil
    @cython.final
    cdef int _reach_row(
        self, long long i, long long bound, long long[::1] bounds, int[::1] moved
    ) except? -1 nogil
    @cython.final
    cdef int _reach_unseen(
        self, int n, long long bound, long long[::1] bounds, int[::1] moved
    ) noexcept nogil
