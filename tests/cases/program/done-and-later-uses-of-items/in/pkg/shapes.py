def area(box):
    return box.size ** 2
