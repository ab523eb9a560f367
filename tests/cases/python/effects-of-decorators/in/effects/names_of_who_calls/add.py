def of_names_of_who_calls(x):
    return x + 1
