"""The same of models whose parameters are spread over devices."""

from pkg.summary import UNKNOWN_SIZE, Summary, human_readable, parameter_count


class ShardedSummary(Summary):
    def sizes(self):
        return [layer.size // layer.shards for layer in self.layers]

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
