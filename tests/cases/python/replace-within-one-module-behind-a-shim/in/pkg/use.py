from pkg.dev import old_size

ONE = old_size(1)
