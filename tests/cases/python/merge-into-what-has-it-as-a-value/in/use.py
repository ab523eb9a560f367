from p.deco import cached
from p.keys import hashkey
print(cached(1), hashkey(2))
