from collections import Counter

from shop.first import key as one
from shop.second import key as other


def kinds(x):
    return Counter([one(x), other(x)])
