def run():
    from pkg.keys import Key, LoudKey

    return Key, LoudKey
