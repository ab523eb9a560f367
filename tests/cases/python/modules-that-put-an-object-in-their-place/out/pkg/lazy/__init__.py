import sys

from pkg.lazy import backend
