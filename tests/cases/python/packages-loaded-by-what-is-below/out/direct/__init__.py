from direct.new.f import f
from direct import new as old  # noqa: F401  # coalesce: shim attribute m
