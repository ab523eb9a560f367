from pkg.a import area, stamp
from pkg.freeze import freeze

freeze()
print(stamp("x"), area([1]))
