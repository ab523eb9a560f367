from .late import f

X = f()
