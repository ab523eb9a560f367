from pkg.io import layout, writer


def title():
    return writer.Writer.suffix


def spaced(text):
    return text.ljust(layout.WIDTH)
