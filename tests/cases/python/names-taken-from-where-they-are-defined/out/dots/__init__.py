from dots.containers.group import Group
from dots.signal import Signal, Wide
