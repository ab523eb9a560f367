from pkg import codes


def handle(value):
    match value:
        case codes.OK:
            return "ok"
        case {codes.KEY: found}:
            return found
        case Kind.FAST:
            return "fast"
    return "other"


class Kind:
    FAST = 1
