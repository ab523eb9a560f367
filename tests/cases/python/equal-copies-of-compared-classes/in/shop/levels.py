from shop.first import Level
from shop.second import level_second


def low():
    return level_second() == Level.LOW
