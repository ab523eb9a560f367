__all__ = ["fa"]
def fa(): return "a"
