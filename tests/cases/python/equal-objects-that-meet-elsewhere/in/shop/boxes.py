from shop.box import Box
from shop.first import boxed

BOX = Box()


def fill(x):
    BOX.put(boxed(x))
