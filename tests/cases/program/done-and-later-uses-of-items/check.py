from pkg.late import late
from pkg import later
assert late() == (2, 9)
