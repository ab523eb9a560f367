from .stack import stack
