from worded.group import Group
from worded.signal import Signal, Wide
