from pkg.base import Base, Other


class Wide(Base):
    pass


class Named(Other):
    pass
