from effects.tools_names_of_who_calls import registered


@registered
def work(x):
    return x
