from pkg.ui.draw import Shape


class Square(Shape):
    pass
