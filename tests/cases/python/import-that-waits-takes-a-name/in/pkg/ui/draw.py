COLOUR = "red"


def bit_strings_of_a_register(count):
    return [format(at, "b") for at in range(count)]
