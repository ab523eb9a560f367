from effects.tools_has_hook import Base


class Work(Base):
    pass
