import ke
import ro
from ke.table import TABLE
from ro.hooks import HOOKS

print(HOOKS, sorted(TABLE), TABLE["first"]())
