"""Point clouds, on a GPU where there is one."""
