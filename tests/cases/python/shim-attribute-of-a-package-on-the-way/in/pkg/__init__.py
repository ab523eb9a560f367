from .app import x
