from helper import footer

print(footer())
