from shop.home import h as f


class C:
    h = 4
    k = f()

    def m(self):
        return f(2), self.h
