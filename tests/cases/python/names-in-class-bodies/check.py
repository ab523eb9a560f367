import shop.fields, shop.free, shop.plain

assert (shop.plain.C.h, shop.plain.C.k, shop.plain.C().m()) == (4, 1, (2, 4))
assert (shop.fields.C().h, shop.fields.C().k, shop.fields.C().m) == (3, 9, 8)
assert shop.free.C.k == 1
