from pkg.limits import told

print(told())
