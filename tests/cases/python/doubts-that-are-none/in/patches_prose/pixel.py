"""Each patch of rotate contains more."""
from patches_prose import rotate
number_of_patches = 2
class Kept:
    kinds = ["average", "max", "min"]
    def __init__(self, patch_x):
        setattr(self, "max", patch_x)
        object.__setattr__(self, "max", patch_x)
