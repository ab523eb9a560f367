import os
import sys

# sys.path.insert(0, "pkg/lib")
sys.path.insert(0, os.path.abspath(".."))
project = "pkg"
