import effects.tools_wraps_by_inner
from effects.wraps_by_inner.add import of_wraps_by_inner

value = of_wraps_by_inner(1)
