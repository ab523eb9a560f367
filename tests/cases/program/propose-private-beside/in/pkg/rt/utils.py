"""What the kernels share."""

BLOCK = 16
