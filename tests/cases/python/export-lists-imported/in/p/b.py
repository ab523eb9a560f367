__all__ = ["fb", "gb"]
def fb(): return "b"
def gb(): return "gb"
