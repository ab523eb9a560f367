def njit(function):
    return function
