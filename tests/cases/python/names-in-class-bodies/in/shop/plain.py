from shop.price import f


class C:
    h = 4
    k = f()

    def m(self):
        return f(2), self.h
