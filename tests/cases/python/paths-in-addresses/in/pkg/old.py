def link():
    return "x"
