from lab.numbers import variance

print(variance([1, 3]))
