from p.run import run
from p.misc import check_slow
print(run(), check_slow())
