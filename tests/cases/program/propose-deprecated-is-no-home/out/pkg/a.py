from pkg.core import block_spans

print(block_spans(9, 4, 2))
