from worded import (
    Signal,  # what it sends by
    Wide,
)


class View(Signal):
    pass
