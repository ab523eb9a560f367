def convert():
    return 1
