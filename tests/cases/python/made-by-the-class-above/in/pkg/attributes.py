class Attribute:
    def __init__(self, value, *, shown=False):
        self.value = value
        self.shown = shown


class Shown(Attribute):
    def __init__(self, value):
        super().__init__(value, shown=True)


class Loud(Attribute):
    def __init__(self, value):
        print(value)
        super().__init__(value)


class Louder(Loud):
    def __init__(self, value):
        super().__init__(value)
