import pkg.fmt
from pkg import fmt, rule


def run():
    return fmt(2), pkg.fmt(3), rule()
