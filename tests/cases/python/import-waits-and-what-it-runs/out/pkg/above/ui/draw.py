from pkg.above.base import Base

COLOUR = "red"


class Drawn(Base):
    pass
