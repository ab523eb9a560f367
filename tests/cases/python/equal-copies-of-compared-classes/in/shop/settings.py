from shop.first import settings_first
from shop.second import settings_second


def both():
    return settings_first() == settings_second()
