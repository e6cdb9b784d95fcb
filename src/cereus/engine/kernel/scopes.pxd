cimport cython

from cereus.engine.kernel.stepper cimport Stepper


cdef class ScopedStepper(Stepper):
    # of each state: its slots that choose and how, which values are easier, whether partial matches
    # outlive the window, and whether they are rivals that have not begun
    cdef int[:, ::1] scope
    cdef int[:, ::1] chooser
    cdef int[:, ::1] easier
    cdef unsigned char[::1] lasting
    cdef unsigned char[::1] entering
    # of each pending row, and of each part that it leaves: which choice it takes part in, and where
    # its scope began; and the best row of each scope, hashed
    cdef int[:, ::1] leaving
    cdef long long[:, ::1] begun_at
    cdef int depth
    cdef int[::1] rivals
    cdef int n_rivals
    # where matches must not be contained in others: the next of the same scope
    cdef int[::1] next_rival
    cdef bint largest
    # how many configurations were looked at since one was found that is never chosen
    cdef int in_vain

    @cython.final
    cdef int _choose_of(self) except? -1 nogil
    @cython.final
    cdef int _choose_largest(self) except? -1 nogil
    @cython.final
    cdef int _end_rivals(self) noexcept nogil
    @cython.final
    cdef bint _is_beaten(self, int row) except? -1 nogil
    @cython.final
    cdef bint _is_inside(self, int row) noexcept nogil
    @cython.final
    cdef int _join_equal(self, int c, int row) except? -1 nogil
    @cython.final
    cdef bint _has_marked(self, int c) noexcept nogil
    @cython.final
    cdef int _clear_rivals(self, int rows) except? -1 nogil
    @cython.final
    cdef int _rival_place(self, int row) noexcept nogil
    @cython.final
    cdef int _rival(self, int row) noexcept nogil
    @cython.final
    cdef int _set_rival(self, int row) noexcept nogil
    @cython.final
    cdef int _beats(self, int row, int other) noexcept nogil
    @cython.final
    cdef int _compared_in_scopes(self, int a, int b, int c) noexcept nogil
    @cython.final
    cdef int _compared(self, int a, int b, long long begin, int chooser) noexcept nogil
    @cython.final
    cdef int _compared_from_there(self, int a, int b, long long begin, int chooser) noexcept nogil
    @cython.final
    cdef long long _first_marked(self, int n, long long begin, int chooser) noexcept nogil
    @cython.final
    cdef int _last_stamped(self, int n, long long begin, int stamp) noexcept nogil
    @cython.final
    cdef inline int _last_marked(self, int n, long long begin, int chooser) noexcept nogil
    @cython.final
    cdef int _only_chooser(self, int s) noexcept nogil
    @cython.final
    cdef int _thin_out(self, int c) except? -1 nogil
    @cython.final
    cdef int _easier(self, int c, int other) noexcept nogil
    @cython.final
    cdef int _easier_in_slot(self, int k, int c, int other) noexcept nogil
    @cython.final
    cdef int _drop_outdone(self, int c) except? -1 nogil
    @cython.final
    cdef inline bint _inside(self, int n, long long begin) noexcept nogil


cdef long long _ordinal(long long value) noexcept nogil
cdef int _way(int chooser) noexcept nogil
cdef int _stamp(int chooser) noexcept nogil
