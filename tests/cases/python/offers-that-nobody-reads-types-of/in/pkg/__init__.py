from .core import start as start
