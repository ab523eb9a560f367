from effects.tools_wraps_by_inner import traced


@traced
def work(x):
    return x
