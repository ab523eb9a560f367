import sys
from pathlib import Path

HERE = Path(sys.modules[__name__].__file__).resolve().parent
