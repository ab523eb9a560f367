from plain import Signal, Wide as Base


class View(Base):
    signal = Signal()
