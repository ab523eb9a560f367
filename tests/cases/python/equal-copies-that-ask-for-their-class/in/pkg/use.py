from pkg import b

found = b.is_closed(b.Closed()), b.is_open(b.Closed()), b.Session().catch(int), b.text(b.Closed())
