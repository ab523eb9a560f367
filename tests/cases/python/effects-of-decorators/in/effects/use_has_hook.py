import effects.tools_has_hook
from effects.has_hook.add import of_has_hook

value = of_has_hook(1)
