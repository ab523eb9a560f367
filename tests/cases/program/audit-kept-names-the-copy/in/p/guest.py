"""Sizes on the guest, which cannot import the other one."""


# Keep in sync with measured_sizes of host.py.
def measured_sizes(shapes):
    """Sizes."""
    sizes = []
    for shape in shapes:
        size = 1
        for length in shape:
            if length < 0:
                raise ValueError("a length is negative")
            size *= length
        sizes.append((size, len(shape), max(shape, default=0)))
    return sorted(sizes, reverse=True)
