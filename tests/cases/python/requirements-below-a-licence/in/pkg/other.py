import notalibrary
from diffpy.utils import tools
