class Loader:
    def __init__(self, root):
        self.root = root

    def files(self):
        return self.root.iterdir()


def open_all(root):
    loader = Loader(root / "plugins")
    return loader.files()


def kind_of(value):
    return "label" if value else "all"
