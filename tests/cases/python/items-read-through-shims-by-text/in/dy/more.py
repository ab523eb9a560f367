import importlib


def right():
    return importlib.import_module(".other", __package__).g(), eval("dy.other.Y")
