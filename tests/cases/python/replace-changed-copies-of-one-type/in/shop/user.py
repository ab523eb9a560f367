from shop.old import clean, increment, is_there


def run(doc):
    increment("a")(doc)
    return clean(" A "), is_there()
