import pkg_resources


def names():
    return pkg_resources.resource_filename("rs", "data")
