from pkg.spectral import welch
from pkg.spectral.registry import library

NAME = library(getattr(welch, "average"))
