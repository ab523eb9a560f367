import effects.tools_bound_by_nonlocal
from effects.bound_by_nonlocal.add import of_bound_by_nonlocal

value = of_bound_by_nonlocal(1)
