from pkg.blocks import block_spans

print(block_spans(5, 4, 2))
