def f():
    global price
    import shop.price as price
    return h()


def h():
    return price.f()
