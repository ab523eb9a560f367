from left.one import count
from left.two import name, size

print(count(), name(), size())
