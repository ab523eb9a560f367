from effects.tools_bound_by_nonlocal import registered


@registered
def work(x):
    return x
