"""The package takes its own place, as lazy loaders do."""
import sys

from loader.made import Made

sys.modules[__name__] = Made(__name__)
