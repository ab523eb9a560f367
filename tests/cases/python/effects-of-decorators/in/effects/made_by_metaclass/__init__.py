from effects.tools_made_by_metaclass import Base


class Work(Base):
    pass
