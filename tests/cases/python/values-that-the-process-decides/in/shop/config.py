level = 1
inside = 1
plain = 1


def set_inside(value):
    global inside
    inside = value


def set_plain(value):
    return value
