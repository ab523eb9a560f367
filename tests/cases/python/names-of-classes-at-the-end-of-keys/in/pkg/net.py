from pkg.layers import Linear, Relu


def state():
    return {f"layers.{i}.{type(one).__name__}": one for i, one in enumerate([Linear(), Relu()])}
