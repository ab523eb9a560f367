from pkg.wrapping import njit


@njit
def blur(cells):
    return cells
