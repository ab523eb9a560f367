from effects.tools_alias_of_a_list import registered


@registered()
def work(x):
    return x
