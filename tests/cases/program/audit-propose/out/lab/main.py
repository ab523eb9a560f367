from lab.core.pool import Pool, round_up
from lab.core.pool import Pool as OldPool
from lab.core.pool import round_up as old_round_up
from lab.statistics import covariance
from lab.old import figures
from lab.statistics import covariance as again

assert Pool is not None and OldPool(4096).take(round_up(3)) == bytearray(256)
assert old_round_up(257) == 512
assert covariance([1, 2, 3], [1, 1, 1]) == again([1, 2, 3], [1, 1, 1]) == 1
assert figures.clipped([3, 30]) == [3, 10]
