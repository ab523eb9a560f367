import sys

A = sys.modules['gained.late']
