from effects.tools_called_by_inner import registered


@registered
def work(x):
    return x
