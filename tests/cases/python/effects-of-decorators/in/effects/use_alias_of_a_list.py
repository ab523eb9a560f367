import effects.tools_alias_of_a_list
from effects.alias_of_a_list.add import of_alias_of_a_list

value = of_alias_of_a_list(1)
