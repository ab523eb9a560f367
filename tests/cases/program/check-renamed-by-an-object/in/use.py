from lab.old.kernels import X
from lab.old.gone import Y
import lab.old.gone.below
from lab.old import anything
import lab.old.asked
import lab.old.spread.thing
from lab.old.put import X as P
from lab.odd.gone import Z
from lab.bound.gone import B
from lab.twice.gone import T
from lab.helped.gone import H


def later():
    from lab.old.missing import W
