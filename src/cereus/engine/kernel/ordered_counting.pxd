cimport cython

from cereus.engine.kernel.counting cimport CountingKernel


cdef class OrderedCountingKernel(CountingKernel):
    # whether leaves may read the events, whether they do, what looking at configurations has cost
    # since this was last considered (steps, and in how many events), and when to consider it next
    cdef bint may_order
    cdef bint in_order
    cdef long long spent
    cdef long long seen
    cdef long long worth_at
    cdef int renewals
    cdef long long leaf_cost
    cdef long long leaves_ahead

    # the states whose matches the leaves hold, and one more that was met
    cdef int n_states
    cdef int[::1] states
    cdef int wanted

    # the leaves: their values and starts, and how many values are NULL
    cdef int n_leaves
    cdef int n_null
    cdef long long[::1] leaf_value
    cdef long long[::1] leaf_start

    # the events that have leaves, from `order_at` to `order_to`, and which
    cdef long long order_at
    cdef long long order_to
    cdef int[::1] place_of

    # the leaves in the order of their starts
    cdef int[::1] queue
    cdef int queue_from
    cdef int queue_to

    # the tree: its width and height, the sums of every node, and the matrices that wait there
    cdef int width
    cdef int levels
    cdef long long words
    cdef double[::1] sums
    cdef unsigned char[::1] waits
    cdef double[:, ::1] products

    # the matrix of each class of events, where it is known, where it changes something, and where
    # matches are completed
    cdef double[:, ::1] matrices
    cdef unsigned char[:, ::1] learned
    cdef unsigned char[::1] changes
    cdef unsigned char[:, ::1] ends

    # to compute with: a matrix, a column of one, a range of leaves
    cdef double[::1] factor
    cdef double[::1] column
    cdef int range_from
    cdef int range_to

    cdef int _take_up(self, int key) except? -1 nogil
    cdef int _save(self, int key) except? -1 nogil
    cdef int _step(self, long long e) except? -1 nogil
    cdef long long _in_memory(self) noexcept nogil
    @cython.final
    cdef int _give_up(self) except? -1 nogil
    @cython.final
    cdef int _heed_limits(self) except? -1 nogil
    @cython.final
    cdef int _measure_anew(self) noexcept nogil
    @cython.final
    cdef bint _is_worth_it(self, long long begin) noexcept nogil
    @cython.final
    cdef bint _can_read(self, long long e) except? -1 nogil
    @cython.final
    cdef bint _can_skip(self) except? -1 nogil
    @cython.final
    cdef bint _learn(self, int letter, int g) except? -1 nogil
    @cython.final
    cdef bint _learn_move(self, int letter, int g, int move) noexcept nogil
    @cython.final
    cdef bint _keeps_slot(self, int to, int copy) noexcept nogil
    @cython.final
    cdef bint _is_range(self, int checks) noexcept nogil
    @cython.final
    cdef int _read_leaves(self, long long e) except? -1 nogil
    @cython.final
    cdef double _completed(self, int g, int at, long long e) except? -1 nogil
    @cython.final
    cdef int _set_range(self, int checks, long long e) noexcept nogil
    @cython.final
    cdef int _place(self, long long value, bint behind) noexcept nogil
    @cython.final
    cdef inline double _sum(self, int n, int g) noexcept nogil
    @cython.final
    cdef double _sum_of_range(self, int g) except? -1 nogil
    @cython.final
    cdef int _send_down(self, int leaf) noexcept nogil
    @cython.final
    cdef int _send_to_children(self, int n) noexcept nogil
    @cython.final
    cdef int _multiply(self, int n) noexcept nogil
    @cython.final
    cdef int _add_up(self, int leaf) noexcept nogil
    @cython.final
    cdef int _expire(self) except? -1 nogil
    @cython.final
    cdef bint _take_in(self, long long e) except? -1 nogil
    @cython.final
    cdef bint _began_now(self, int c, int place, long long e) noexcept nogil
    @cython.final
    cdef int _put_in_leaves(self, long long begin) except? -1
    @cython.final
    cdef int _put_back(self) except? -1 nogil
    @cython.final
    cdef int _put_back_value(self, int g, int n) except? -1 nogil
