class Model:
    def __init__(self, **given):
        for name, kind in type(self).__annotations__.items():
            setattr(self, name, kind(given[name]))
