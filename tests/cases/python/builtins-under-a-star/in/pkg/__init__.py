"""Brings names of which nobody knows."""
from numpy import *
from pkg.util.timer import now
