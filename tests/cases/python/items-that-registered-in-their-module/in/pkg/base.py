class Field:
    kinds = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.kinds[cls.__name__] = cls
