def snake(name):
    return name.lower()
