"""See p.a for more."""
from p.a import f
