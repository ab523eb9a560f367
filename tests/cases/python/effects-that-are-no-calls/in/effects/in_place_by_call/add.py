def of_in_place_by_call(x):
    return x + 1
