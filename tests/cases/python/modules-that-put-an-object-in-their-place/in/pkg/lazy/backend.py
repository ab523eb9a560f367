import sys


class Backend:
    def __getattr__(self, name):
        return name.upper()


sys.modules[__name__] = Backend()
