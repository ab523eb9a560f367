import os

from pkg.files import load_each


def load_all(folder):
    names = os.listdir("data")
    load_each(os.path.join(folder, "readers"))
    return names
