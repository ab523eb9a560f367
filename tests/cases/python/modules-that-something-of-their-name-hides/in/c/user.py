import c.blur as made


def go():
    return made.blur()
