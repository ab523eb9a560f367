from pkg.core.boxes import Crate
from pkg.shapes import area

print(area(Crate(2)))
