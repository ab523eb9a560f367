import effects.tools_marks
from effects.marks.add import of_marks

value = of_marks(1)
