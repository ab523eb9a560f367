import os


def shell():
    return os.environ.get("SHELL")


def home():
    return os.environ.get("HOME")
