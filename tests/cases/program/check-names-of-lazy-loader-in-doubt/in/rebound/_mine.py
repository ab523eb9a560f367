class lazy:
    @staticmethod
    def attach(*a, **k):
        return (lambda n: 1), None, None
