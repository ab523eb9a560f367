import importlib


def test_outside():
    name = "buf" + "fers"
    assert importlib.import_module("lidar.old." + name).fill() == 2
