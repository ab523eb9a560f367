from lab.old.kernels import X
from lab.old.gone import Y
import lab.old.gone.below
from lab.old import anything
import lab.old.asked
from lab.odd.gone import Z
from lab.twice.gone import Q


def later():
    from lab.old.missing import W
