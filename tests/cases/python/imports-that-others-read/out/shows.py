def f():
    """
    >>> from pkg import shown as s
    >>> s.floor(2.3)
    2
    """
