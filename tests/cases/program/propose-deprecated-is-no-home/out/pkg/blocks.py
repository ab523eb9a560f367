"""Blocks."""


def block_spans(length, widest, alignment):
    """Spans of blocks that fit a launch, the last one shorter."""
    step = max(widest // alignment, 1) * alignment
    spans = []
    start = 0
    while start < length:
        end = min(start + step, length)
        spans.append((start, end))
        start = end
    if not spans:
        spans.append((0, 0))
    return spans
