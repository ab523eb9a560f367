class Format:
    def text(self, value):
        return str(value)
