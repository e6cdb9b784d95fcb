cdef int interrupted() except? -1 nogil
cdef Py_ssize_t goes_on(
    int skip, Py_ssize_t start, Py_ssize_t end, Py_ssize_t target
) noexcept nogil
