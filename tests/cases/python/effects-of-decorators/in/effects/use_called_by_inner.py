import effects.tools_called_by_inner
from effects.called_by_inner.add import of_called_by_inner

value = of_called_by_inner(1)
