cdef int interrupted() except? -1 nogil
