from typing import Optional

from .base import Base
from .types import Kind, Other, Priority


class Job(Base):
    priority: Optional[Priority] = None
    kind: "list[Kind]" = []


class Plain:
    other: Other = Other.B


USED = (Kind, Other)
