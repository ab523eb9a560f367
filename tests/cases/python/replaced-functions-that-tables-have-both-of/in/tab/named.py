from tab import a

OPS = {f.__name__: f for f in (a.relu, a.norm)}


def run(x):
    return OPS["relu"](x)
