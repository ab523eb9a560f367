X = 1


def read_json():
    pass
