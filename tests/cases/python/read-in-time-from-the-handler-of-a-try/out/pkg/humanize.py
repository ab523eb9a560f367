from pkg import Invalid


class Part(str):
    def __repr__(self):
        return "<" + self + ">"


def humanize(x):
    try:
        return Part(x)
    except Invalid:
        return None
