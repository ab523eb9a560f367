from shop.home import h


class C:
    k = h()

    def m(self):
        h = 3
        return h
