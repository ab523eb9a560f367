from effects.tools_given_by_condition import registered


@registered()
def work(x):
    return x
