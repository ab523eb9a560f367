from plain.group import Group
from plain.signal import Signal, Wide
