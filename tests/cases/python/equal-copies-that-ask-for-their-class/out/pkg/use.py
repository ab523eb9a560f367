from pkg import b
from pkg import a

found = b.is_closed(b.Closed()), b.is_open(b.Closed()), b.Session().catch(int), a.text(b.Closed())
