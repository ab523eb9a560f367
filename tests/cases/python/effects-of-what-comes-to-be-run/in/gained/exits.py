import sys

if len(sys.argv) > 7:
    sys.exit(3)
