from gained.base import TABLE


class Box:
    def __init__(self, held):
        self.held = held


Box(TABLE).held.append(1)
