import effects.tools_given_by_condition
from effects.given_by_condition.add import of_given_by_condition

value = of_given_by_condition(1)
