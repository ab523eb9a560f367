import sys

if sys.version_info >= (3, 0):
    Flag = int
if sys.version_info >= (99, 0):
    Later = int
