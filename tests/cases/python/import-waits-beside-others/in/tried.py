def nothing():
    """
    >>> import pkg.ui.doctest as tools
    >>> tools.kernel(1)
    1
    """
