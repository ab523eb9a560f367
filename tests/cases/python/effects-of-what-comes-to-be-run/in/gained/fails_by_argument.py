import sys

A = sys.argv[3]
