from p.core import detect

print(detect())
