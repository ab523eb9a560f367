import os


def home():
    return os.environ.get("HOME")
