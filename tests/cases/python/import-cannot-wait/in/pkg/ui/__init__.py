from pkg.ui.base import Square
from pkg.ui.translated import fast
from pkg.ui.patched import paint
from pkg.ui.typed import corners
from pkg.ui.tested import shade
from pkg.ui.listed import tint
