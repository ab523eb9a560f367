class Base:
    def __init_subclass__(cls, **given):
        super().__init_subclass__(**given)
        cls.label = cls.__name__.lower()
