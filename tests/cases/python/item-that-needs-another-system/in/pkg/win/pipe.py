import sys

assert sys.platform == "win32"

from ctypes import windll


def beep():
    return windll.kernel32.Beep(750, 300)
