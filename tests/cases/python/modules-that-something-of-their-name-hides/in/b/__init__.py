from .bar import bar
