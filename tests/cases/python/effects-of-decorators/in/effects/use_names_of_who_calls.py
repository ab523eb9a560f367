import effects.tools_names_of_who_calls
from effects.names_of_who_calls.add import of_names_of_who_calls

value = of_names_of_who_calls(1)
