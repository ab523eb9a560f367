from several.group import Group
try:
    from several.fast import Signal
except ImportError:
    from several.signal import Signal
