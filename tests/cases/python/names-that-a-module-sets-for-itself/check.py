from pkg import made, use
assert use.read(1) == 7 and made.do_add == 3
