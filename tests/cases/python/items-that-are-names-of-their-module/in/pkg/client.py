class Client:
    pass


NAMES = locals()
LISTED = dir()
KEPT = {key: value for key, value in vars().items() if key[0].isupper()}
SHOWN = sorted(vars(Client))


def own():
    found = 1
    return locals(), dir(), found


NAMES["Client"].label = "client"
