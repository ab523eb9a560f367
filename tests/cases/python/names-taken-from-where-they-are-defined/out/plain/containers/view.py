from plain.signal import Signal, Wide as Base


class View(Base):
    signal = Signal()
