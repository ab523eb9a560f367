import sys
sys.path.insert(0, "src")
import pkg.main
