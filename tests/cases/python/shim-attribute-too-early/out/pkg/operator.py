from .opt.basic import iterate

__all__ = ["Operator"]


class Operator:
    def solve(self):
        return iterate(self)
