"""Trains on pictures."""

import argparse


class Pictures:
    """Pictures with their labels, in the order of their files."""

    def __init__(self, folder, labels):
        self.folder = folder
        self.labels = dict(labels)

    def label(self, name):
        return self.labels.get(name.lower(), "unknown")

    def names(self):
        return sorted(self.labels)


class Frame:
    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height

    def turned(self):
        return Frame(self.height, self.width)


def crop(frame, left, top):
    if left < 0 or top < 0:
        raise ValueError("a crop begins inside")
    return Frame(frame.width - left, frame.height - top)


def columns(rows):
    return [list(column) for column in zip(*rows)]


def histogram(values, bins):
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int(value * bins))] += 1
    return counts


def mirrored(rows):
    return [row[::-1] for row in rows]


def cli_main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    steps = args.epochs * 100
    for step in range(steps):
        print(step, args.rate, args.seed)


def launch():
    names = []
    for number in range(10):
        names.append("worker-%d" % number)
    for name in names:
        print("starting", name)
    for name in reversed(names):
        print("stopping", name)
    return len(names)


if __name__ == "__main__":
    cli_main()
    launch()
