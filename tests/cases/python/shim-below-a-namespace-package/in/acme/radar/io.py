def open_file():
    return 1
