from lab.numbers import average, difference, factorial, handed, named, product, spread
from lab.register import apply

print(average([1, 2]), product([2, 3]), factorial(4), spread([1, 5]))
print(difference(3, 1), named(value=1), apply(handed))
