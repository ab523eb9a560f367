from gk.cuda import told

print(told(1))
