from made.group import Group
from made.signal import Signal

Signal = type("Signal", (Signal,), {})
