class Plugin:
    def __init__(self):
        self.name = self.__module__.split(".")[-1]
