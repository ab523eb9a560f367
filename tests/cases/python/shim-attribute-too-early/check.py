import warnings

warnings.simplefilter("ignore")
import pkg
import pkg.opt.least

assert pkg.solve(pkg.Operator()) is not None
assert pkg.opt.least.solve is pkg.solve
