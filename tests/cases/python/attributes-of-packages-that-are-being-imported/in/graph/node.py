DEPTH = 3


class Node:
    pass
