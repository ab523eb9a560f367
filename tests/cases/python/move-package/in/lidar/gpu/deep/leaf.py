from ...shared import VALUE
from . import sibling


def leaf():
    return VALUE, sibling.NAME
