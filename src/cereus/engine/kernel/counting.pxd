cimport cython

from cereus.engine.kernel.kernel cimport Kernel


cdef class CountingKernel(Kernel):
    # the cells of all vectors: when partial matches start, how many do, and their totals
    cdef long long[::1] starts
    cdef double[::1] counts
    cdef double[:, ::1] totals
    cdef long long cells
    cdef long long sweep_cells_at

    # the kinds of the totals, the values of this batch's events, and which labels count for which
    cdef int[::1] kinds
    cdef double[:, ::1] amounts
    cdef unsigned char[:, ::1] adds

    # how many matches this event has completed, and their totals
    cdef double ended_count
    cdef double[::1] ended_totals

    # the chunk to write to
    cdef double[::1] out_counts
    cdef double[:, ::1] out_totals

    @cython.final
    cdef int _room_for_cells(self, long long more) except? -1 nogil
    @cython.final
    cdef inline int _put(self, long long start, double count) except? -1 nogil
    @cython.final
    cdef inline int _put_copy(self, long long cell) except? -1 nogil
    @cython.final
    cdef int _put_copies(self, int vector) except? -1 nogil
    @cython.final
    cdef inline long long _cost(self, long long cells) noexcept nogil
    @cython.final
    cdef int _vector(self, long long begin) except? -1 nogil
    cdef long long _in_memory(self) noexcept nogil
    @cython.final
    cdef inline int _total_nothing(self) except? -1 nogil
    @cython.final
    cdef inline int _total_into(self, long long cell, long long other) except? -1 nogil
    @cython.final
    cdef int _total_event(self, long long begin, int label) except? -1 nogil
    cdef int _mark(self, int label, int r, int unseen) except? -1 nogil
    cdef int _end(self, int label, int r, int unseen) except? -1 nogil
    @cython.final
    cdef int _end_nothing(self) except? -1 nogil
    @cython.final
    cdef inline int _end_cell(self, long long cell, int label) except? -1 nogil
    cdef int _meld(self, int a, int b) except? -1 nogil
    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef bint _write_row(self, long long cell) except? -1 nogil
    cdef int _sweep(self) except? -1 nogil
    @cython.final
    cdef int _kept(self, int r, int nodes) except? -1 nogil
    @cython.final
    cdef int _move_to_front(self, int nodes, long long cells) except? -1 nogil


cdef double _nothing(int kind) noexcept nogil
cdef double _joined(int kind, double a, double b) noexcept nogil
