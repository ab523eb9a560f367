class Box:
    def __init__(self, text):
        self.text = text


SIMPLE = Box("simple")


class Frame(Box):
    inner = SIMPLE
