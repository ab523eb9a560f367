import sys

import pkg.gpu

print(sys.modules["pkg.gpu"].count(), pkg.gpu.__dict__["count"]())
