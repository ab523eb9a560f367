from .y import helper


def run():
    return helper()
