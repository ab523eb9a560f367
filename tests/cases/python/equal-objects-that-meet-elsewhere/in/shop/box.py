class Box:
    def __init__(self):
        self.inside = []

    def put(self, thing):
        if thing not in self.inside:
            self.inside.append(thing)
