import pkg.sub.leaf
from pkg import sub

print(sub.gpu.count(), pkg.sub.leaf.up.count())
