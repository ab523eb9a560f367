IDLE: float = 0.1


def wait(seconds: float) -> float:
    return seconds


class Timer:
    seconds: float
