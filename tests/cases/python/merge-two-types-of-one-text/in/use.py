from p.a import Size, clean
from p.b import Extent

print(Size(1, 2), Extent(1, 2), Size(1, 2) == Extent(1, 2), clean(" A "))
