def read_csv():
    pass


def read_json():
    pass
