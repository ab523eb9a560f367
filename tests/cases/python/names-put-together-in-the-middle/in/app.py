import importlib

ROOT = "pkg"


def load(kind):
    return importlib.import_module("%s.gpu.%s" % ("pkg", kind))


def formatted(kind):
    return importlib.import_module("{}.gpu.{}".format(ROOT, kind))


def named(kind):
    return importlib.import_module("%(root)s.gpu.%(kind)s" % {"root": ROOT, "kind": kind})


def summed(kind):
    return importlib.import_module(ROOT + ".gpu." + kind)


def first(kind):
    return importlib.import_module("pkg" + "." + "gpu" + "." + kind)


def joined(kind):
    return importlib.import_module(".".join(["pkg", "gpu", kind]))


def other(kind):
    return importlib.import_module("%s.cpu.%s" % ("pkg", kind))
