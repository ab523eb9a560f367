from pkg import codes


def other(value):
    match value:
        case codes.OK:
            return True
    return False
