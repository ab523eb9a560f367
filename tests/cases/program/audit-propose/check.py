import sys
sys.path.insert(0, ".")
import lab.main
