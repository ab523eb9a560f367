from stubbed import load
from stubbed import core
from stubbed import nothing
from tabled import load
from tabled import core
from tabled import nothing
from own import load
from own import core
from own import nothing
from built import load
from built import core
from built import nothing
from both import load
from both import core
from both import nothing
from executed import load
from executed import core
from executed import nothing
from variable import load
from variable import core
from variable import nothing

try:
    from tabled import gone
except ImportError:
    gone = None
