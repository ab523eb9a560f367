from effects.base import Base


class Plug(Base):
    pass
