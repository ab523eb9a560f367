from pkg.io import layout, writer


class Molden(writer.Writer):
    pass


def title():
    return writer.Writer.suffix


def spaced(text):
    return text.ljust(layout.WIDTH)
