import glob


def load_each(folder):
    return [load(path) for path in glob.iglob(folder + "/*.py")]


def load(path):
    return path
