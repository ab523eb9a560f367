from ty.a import A


class B(A):
    pass
