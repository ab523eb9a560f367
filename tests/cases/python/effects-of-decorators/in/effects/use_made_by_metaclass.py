import effects.tools_made_by_metaclass
from effects.made_by_metaclass.add import of_made_by_metaclass

value = of_made_by_metaclass(1)
