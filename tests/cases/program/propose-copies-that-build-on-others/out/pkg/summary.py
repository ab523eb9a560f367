"""What a model consists of."""

UNKNOWN_SIZE = "?"


def parameter_count(layers):
    total = 0
    for layer in layers:
        for parameter in layer.parameters():
            total += parameter.numel()
    return total


def human_readable(number):
    labels = [" ", "K", "M", "B", "T"]
    group = 0
    while number >= 1000 and group < len(labels) - 1:
        number /= 1000.0
        group += 1
    return f"{number:,.1f} {labels[group]}"


class Summary:
    def __init__(self, layers, depth=1):
        self.layers = layers
        self.depth = depth

    def sizes(self):
        return [layer.size for layer in self.layers]

    def rows(self):
        arrays = [
            ("index", list(map(str, range(len(self.layers))))),
            ("name", [layer.name for layer in self.layers]),
            ("type", [type(layer).__name__ for layer in self.layers]),
            ("parameters", list(map(human_readable, self.sizes()))),
            ("mode", ["train" if layer.training else "eval" for layer in self.layers]),
        ]
        if self.depth > 1:
            arrays.append(("children", [len(layer.children) for layer in self.layers]))
        width = max(len(values) for _, values in arrays)
        for _, values in arrays:
            values.extend([" "] * (width - len(values)))
        return arrays

    def table(self):
        lines = []
        for name, values in self.rows():
            widest = max(len(value) for value in values)
            header = name.ljust(widest)
            lines.append(header)
            lines.append("-" * len(header))
            for value in values:
                lines.append(value.rjust(widest))
        return "\n".join(lines)
