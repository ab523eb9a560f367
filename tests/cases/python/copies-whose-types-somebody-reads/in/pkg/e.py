from pkg import d

print(d.shown.__annotations__)
