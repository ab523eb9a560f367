from pkg.star import *

solver = Solver
