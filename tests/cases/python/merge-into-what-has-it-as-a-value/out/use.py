from p.deco import cached
from p.deco import hashkey
print(cached(1), hashkey(2))
