from q import Pool
from tests.fixtures import pool as pool, double as double, clean as clean


def helper():
    return Pool()
