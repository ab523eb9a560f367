def nbytes(x):
    return 1


def said(x):
    return 1
