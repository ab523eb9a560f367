from .helpers import *


def view():
    return slug("A")
