def of_alias_of_a_list(x):
    return x + 1
