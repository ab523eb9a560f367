from .mathx import add
from .tool import run

print(add(1, 2), run())
