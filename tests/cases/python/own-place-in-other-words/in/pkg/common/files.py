from importlib.resources import files


def read(name):
    return files(__package__).joinpath("..", "data", name).read_text()
