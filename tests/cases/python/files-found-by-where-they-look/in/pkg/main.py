import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))

from conv import convert

print(convert())
