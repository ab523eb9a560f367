import os

from pkg.io import asked as other

HERE = os.path.dirname(other.__file__)
