from lab.behind import there as behind
from lab.early import there as early
from lab.less import there as less
from lab.order import there as order
from lab.other import there as other
from lab.preset import there as preset
from lab.wider import there as wider

print([one() for one in (behind, early, less, order, other, preset, wider)])
