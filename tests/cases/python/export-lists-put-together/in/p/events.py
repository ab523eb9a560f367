__all__ = ("Loop", "get_loop")
class Loop: name = "loop"
def get_loop(): return Loop()
