from effects.tools_marks import identified


@identified('B1')
def work(x):
    return x
