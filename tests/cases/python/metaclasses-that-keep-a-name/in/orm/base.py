class ModelMeta(type):
    registry = {}
    def __new__(mcs, name, bases, attrs):
        cls = super().__new__(mcs, name, bases, attrs)
        if bases:
            mcs.registry[name] = cls
        return cls
class Model(metaclass=ModelMeta):
    pass
class ForeignKey:
    def __init__(self, to): self.to = to
    def resolve(self): return ModelMeta.registry[self.to]
