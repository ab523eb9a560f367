"""Trains on sounds."""

import argparse


def spectrum(samples, width):
    total = 0.0
    for start in range(0, len(samples), width):
        window = samples[start : start + width]
        total += max(window) - min(window)
    return total / max(1, len(samples) // width)


def loudest(sounds):
    best, level = None, float("-inf")
    while sounds:
        sound = sounds.pop()
        if sum(sound) > level:
            best, level = sound, sum(sound)
    return best


def resampled(samples, rate, wanted):
    step = rate / wanted
    at = 0.0
    result = []
    while int(at) < len(samples):
        result.append(samples[int(at)])
        at += step
    return result


def silence(seconds, rate):
    yield from (0.0 for _ in range(int(seconds * rate)))


class Envelope:
    attack: float = 0.1
    decay: float = 0.5

    def level(self, time):
        if time < self.attack:
            return time / self.attack
        return max(0.0, 1.0 - (time - self.attack) / self.decay)


def mixed(left, right, share=0.5):
    return [a * share + b * (1 - share) for a, b in zip(left, right)]


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
