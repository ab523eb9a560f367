import sys


class Backend:
    def __getattr__(self, name):
        return name.upper()


sys.modules["pkg.other"] = Backend()
