from pkg.tag import Tag


def escape(text):
    return text


class Blue(Tag):
    pass
