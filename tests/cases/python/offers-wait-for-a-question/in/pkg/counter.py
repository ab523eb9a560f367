from pkg.counted import *

solver = Solver
