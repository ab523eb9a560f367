from pkg.core import block_spans

print(block_spans(7, 4, 2))
