import b.bar as made


def go():
    return made()
