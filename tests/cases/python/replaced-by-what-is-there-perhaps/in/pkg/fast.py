import sys

if sys.platform == "linux":

    def add(a, b):
        return a + b
