from plain.containers.group import Group
from plain.signal import Signal, Wide
