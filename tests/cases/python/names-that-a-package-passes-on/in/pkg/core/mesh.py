class Mesh:
    pass


def area():
    return 1
