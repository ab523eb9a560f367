def check():
    return "checked"
