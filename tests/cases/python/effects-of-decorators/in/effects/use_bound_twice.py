import effects.tools_bound_twice
from effects.bound_twice.add import of_bound_twice

value = of_bound_twice(1)
