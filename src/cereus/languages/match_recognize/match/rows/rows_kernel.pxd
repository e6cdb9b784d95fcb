cdef int interrupted() except? -1 nogil
cdef Py_ssize_t goes_on(
    int skip, Py_ssize_t start, Py_ssize_t end, Py_ssize_t target
) noexcept nogil
cdef Py_ssize_t marked(int skip, Py_ssize_t target, Py_ssize_t row) noexcept nogil
cdef void note(
    long long[::1] progress,
    Py_ssize_t part,
    Py_ssize_t row,
    Py_ssize_t matches,
    Py_ssize_t written,
    Py_ssize_t read,
) noexcept nogil
