from shop import old
from shop import price
from shop.price import total_of

X = total_of([1], start=2) + price.total_of([3]) + old.twice([1])
