from shop.protocol import Method  # noqa: E402




def replace(text, method: Method):
    return method(str, text)
