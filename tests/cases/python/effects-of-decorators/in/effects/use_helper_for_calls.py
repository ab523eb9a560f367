import effects.tools_helper_for_calls
from effects.helper_for_calls.add import of_helper_for_calls

value = of_helper_for_calls(1)
