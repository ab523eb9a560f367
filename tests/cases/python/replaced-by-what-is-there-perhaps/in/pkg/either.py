try:
    from add_that_is_not_here import add
except ImportError:

    def add(a, b):
        return a + b
