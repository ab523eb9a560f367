from .old import link

SOURCE = "https://github.com/acme/pkg/blob/main/pkg/old.py"
