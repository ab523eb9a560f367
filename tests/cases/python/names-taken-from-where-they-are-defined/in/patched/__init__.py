from patched.group import Group
from patched.signal import Signal, Wide
