cimport cython

from cereus.engine.kernel.counting cimport CountingKernel


cdef class SlidingCountingKernel(CountingKernel):
    # the numbers of a value and of a form, the first node of the DAG, its bases, and the first
    # start since vectors were made
    cdef int words
    cdef long long width
    cdef int dag
    cdef int n_bases
    cdef long long first_start

    # per node of the DAG: its form, and the amounts that it carries
    cdef double[::1] forms
    cdef double[:, ::1] node_amounts

    # per base: its first cell in the window, the one behind its last, and how far it was merged
    cdef long long[::1] cursor
    cdef long long[::1] front_end
    cdef long long[::1] place

    # per cell of a base: the sum of it and all that follow
    cdef double[::1] suffix_counts
    cdef double[:, ::1] suffix_totals

    @cython.final
    cdef inline int _set_nothing(self, long long at, long long numbers) noexcept nogil
    @cython.final
    cdef inline int _add(self, long long at, long long other, long long numbers) noexcept nogil
    @cython.final
    cdef inline int _with_amounts(self, long long at, int n) noexcept nogil
    @cython.final
    cdef inline int _add_product(self, long long cell, long long at, long long i, bint suffix) noexcept nogil
    @cython.final
    cdef inline long long _form(self, int n) noexcept nogil
    @cython.final
    cdef int _dag_node(self, int kind, long long start, int left, int right) except? -1 nogil
    cdef long long _in_memory(self) noexcept nogil
    @cython.final
    cdef inline int _copy_form(self, int n, int other) noexcept nogil
    @cython.final
    cdef int _take_amounts(self, int n, int label) noexcept nogil
    @cython.final
    cdef inline bint _counts_for_total(self, int label) noexcept nogil
    cdef int _mark(self, int label, int r, int unseen) except? -1 nogil
    cdef int _meld(self, int a, int b) except? -1 nogil
    cdef bint _report(self) except? -1 nogil
    @cython.final
    cdef int _follow_window(self) noexcept nogil
    @cython.final
    cdef int _add_value(self, long long cell, long long at) noexcept nogil
    cdef int _take_up(self, int key) except? -1 nogil
    cdef int _save(self, int key) except? -1 nogil
    cdef int _sweep(self) except? -1 nogil
    @cython.final
    cdef int _begin_dag(self) except? -1 nogil
    @cython.final
    cdef int _new_base(self, int j, int vector) except? -1 nogil
    @cython.final
    cdef int _make_vectors(self) except? -1 nogil
    @cython.final
    cdef int _vector_of(self, int r) except? -1 nogil
    @cython.final
    cdef int _weigh(self, int r) except? -1 nogil
    @cython.final
    cdef int _put_bases(self, long long begin) except? -1 nogil
    @cython.final
    cdef int _put_start(self, long long begin, long long start) except? -1 nogil
    @cython.final
    cdef int _total_weight(self, long long cell, long long at) noexcept nogil
