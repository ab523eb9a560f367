from shop.price import f


class C:
    k = f()

    def m(self):
        h = 3
        return h
