import os

COLOUR = os.environ.get("COLOUR", "red")
