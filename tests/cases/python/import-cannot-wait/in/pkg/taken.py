"""Takes all that is offered there, so that a name which is given on request would be missed."""
from pkg.ui import *
