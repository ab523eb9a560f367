def of_helper_for_calls(x):
    return x + 1
