import sys

from acme import K
from acme.acme import acme as f

KIND = sys.argv[-1]

if __name__ == "__main__" and KIND == "acme":
    print("acme" if KIND != __name__ else "device:acme")

print(f.__name__ == "acme", K.__module__ in ("acme", "other"), KIND in ("acme", "b"))
print(K.__module__.split(".")[0] == "acme")
