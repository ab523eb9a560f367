from diffpy.structure import Lattice
from mpl_toolkits.axes_grid1 import make_axes_locatable
import rsciio
