from p.b import Extent, clean

print(Extent(1, 2).area(), clean(" A "))
