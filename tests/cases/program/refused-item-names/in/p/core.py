class Core:
    def run(self):
        return helper()


def helper():
    return 1
