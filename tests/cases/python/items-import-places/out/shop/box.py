class Box:
    def __init__(self, text):
        self.text = text


from shop.simple import SIMPLE  # noqa: E402


class Frame(Box):
    inner = SIMPLE
