from pkg import codes


def handle(value):
    match value:
        case codes.OK:
            return "ok"
        case {codes.KEY: found}:
            return found
        case codes.Kind.FAST:
            return "fast"
    return "other"
