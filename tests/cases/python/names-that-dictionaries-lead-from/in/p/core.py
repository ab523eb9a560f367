from p import glyphs


class Options:
    def __init__(self, **given):
        for name, value in given.items():
            setattr(value, name, glyphs.other())


NAMES = {"min": "min", "max": "max", "mean": "average"}
