from chain.group import Group
from chain.api import Signal
