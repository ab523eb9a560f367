def might_be(cls, package):
    return any(package in each.__module__.split(".") for each in cls.mro())
