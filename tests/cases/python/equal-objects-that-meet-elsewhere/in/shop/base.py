class Base:
    def __eq__(self, other):
        return type(self) is type(other) and self.x == other.x

    def __hash__(self):
        return 1
