from shop import old
from shop.old import total

X = total([1], start=2) + old.total([3]) + old.twice([1])
