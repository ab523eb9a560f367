from pkg.a import Box, scale

print(scale([1]), Box().grow(2))
