import operator

import pkg.gpu

print(operator.attrgetter("gpu.count")(pkg)())
