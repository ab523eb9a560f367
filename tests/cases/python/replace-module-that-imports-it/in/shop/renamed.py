from shop.summary import Summary as Plain


class Whole:
    def total(self, layers):
        return Plain().total(layers)
