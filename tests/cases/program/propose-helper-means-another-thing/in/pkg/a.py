from pkg.cpu import block_spans as one
from pkg.gpu import block_spans as two

print(one(9, 4, 2), two(9, 4, 2))
