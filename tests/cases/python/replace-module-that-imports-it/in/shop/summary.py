UNKNOWN = "?"


class Summary:
    def total(self, layers):
        return sum(layer.size for layer in layers)
