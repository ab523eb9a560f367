from pkg.a import f


cdef int run() except -1:
    return f()
