import sys

sys.path.insert(0, ".")
import lab.user

assert lab.user.both() == 9
