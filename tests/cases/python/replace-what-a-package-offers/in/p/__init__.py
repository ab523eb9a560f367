from .a import LIMIT, run

__all__ = ["LIMIT", "run"]
