from p.b import ArrayLike, Shape, counted, short, to_host
from p import a

assert short("abcd") == "abc" and short.short_description == "Short"
assert a.empty() is Shape.EMPTY and isinstance(Shape.EMPTY, Shape)
assert a.is_array([]) and not a.is_array(1) and issubclass(list, ArrayLike)
assert to_host([1, 2]) == (1, 2) and to_host(4) == (4,)
assert (counted(), counted()) == (1, 2)
