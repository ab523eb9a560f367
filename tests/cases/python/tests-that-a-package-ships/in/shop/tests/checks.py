from shop.tests.helpers import number


def check():
    return number() == 1
