def read_csv():
    pass
