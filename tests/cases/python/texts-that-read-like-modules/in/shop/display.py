from .options import get_option


def rows():
    return get_option("shop.display.rows")
