from pkg.ui.brush import stroke
from pkg.ui.guide import line
from pkg.ui.held import pen
from pkg.ui.named import mark
from pkg.ui.doctest import dot
