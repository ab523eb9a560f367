from shop.old import LIMIT, WHERE, both, decorated, listed, named, pair, same, unknown, waited

print(both(1), named(2), same([3]), listed([4]), unknown([5]), LIMIT, WHERE)
print(waited([6]), decorated([7]), pair([8]))
