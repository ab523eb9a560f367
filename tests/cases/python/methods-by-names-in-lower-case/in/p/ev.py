class OrderPlaced:
    def __init__(self, n): self.n = n
class OrderPaid:
    def __init__(self, n): self.n = n
