from p.a import Size, clean

print(Size(1, 2).area(), clean(" A "))
