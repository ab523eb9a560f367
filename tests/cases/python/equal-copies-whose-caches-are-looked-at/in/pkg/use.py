from pkg import a, b

a.probe(1)
b.probe(2)
found = a.known(), b.known()
