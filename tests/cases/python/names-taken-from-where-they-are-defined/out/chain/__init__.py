from chain.containers.group import Group
from chain.api import Signal
