from .io import open_file
