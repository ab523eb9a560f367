from shop import second
from shop.boxes import BOX


def fill(x):
    BOX.put(second.boxed(x))
