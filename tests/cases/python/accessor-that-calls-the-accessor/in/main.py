from lab.user import there

print(there())
