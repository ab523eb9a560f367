from app.core import pool


def warn():
    return pool
