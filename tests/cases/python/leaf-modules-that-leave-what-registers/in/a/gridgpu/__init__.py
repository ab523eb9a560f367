from . import backend
