from pkg.gpu.__init__ import count
import pkg.gpu.__init__ as g
print(count(), g.count())
