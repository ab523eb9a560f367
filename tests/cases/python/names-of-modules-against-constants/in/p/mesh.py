class Mesh:
    pass


class Grid:
    pass
