import time


def freeze():
    time.time = lambda: 0.0
