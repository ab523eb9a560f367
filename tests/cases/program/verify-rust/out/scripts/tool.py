import sys

print(sys.argv[99])
