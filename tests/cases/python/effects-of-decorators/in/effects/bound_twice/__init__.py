from effects.tools_bound_twice import registered


@registered
def work(x):
    return x
