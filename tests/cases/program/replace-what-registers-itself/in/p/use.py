import p.a
import p.b
from p.reg import R

print(R["a"](1))
