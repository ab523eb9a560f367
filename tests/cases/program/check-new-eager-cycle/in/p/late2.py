from p.late import h


def k():
    return h
