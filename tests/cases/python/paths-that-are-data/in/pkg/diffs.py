def files(text):
    return [line[6:] for line in text.splitlines() if line.startswith("+++ b/")]


def is_python(name):
    return name.endswith(".py")
