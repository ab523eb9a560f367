from app.conf import MODE


def tag(s):
    return f"{MODE}:{s}"
