from pkg import quoted as q

print(getattr(q, 'floor')(2.3))
