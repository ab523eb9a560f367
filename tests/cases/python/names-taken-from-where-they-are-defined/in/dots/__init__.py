from dots.group import Group
from dots.signal import Signal, Wide
