def name():
    return "g"
