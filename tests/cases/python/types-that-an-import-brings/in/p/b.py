"""B."""
from p.c import show
