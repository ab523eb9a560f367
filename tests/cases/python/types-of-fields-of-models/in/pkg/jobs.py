from typing import Annotated, Literal, Optional

from .base import Base
from .types import Kind, Other, Phase, Priority


class Job(Base):
    priority: Optional[Priority] = None
    kind: "list[Kind]" = []


class Plain:
    other: Other = Other.B


USED = (Kind, Other)


class Task(Base):
    state: Literal["Phase", "Done"] = "Done"
    note: Annotated[str, "a Phase"] = ""


PHASES = (Phase,)
