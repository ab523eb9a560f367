import sys

sys.modules['gained.base'].N = 9
