"""Texts.

>>> slug("A b")
'a-b'
>>> from pkg import other
>>> other.slug
1
"""

__test__ = {"more": ">>> lower('A')\n'a'"}


def slug(text):
    """Makes a slug.

    >>> slug("A b")
    'a-b'
    >>> [slug(each) for each in ("slug", "B")]
    ['slug', 'b']
    """
    return text.lower().replace(" ", "-")


def twice(text):
    """Says it twice.

    >>> twice("a")
    'aa'
    """
    return text * 2


def lower(text):
    return text.lower()
