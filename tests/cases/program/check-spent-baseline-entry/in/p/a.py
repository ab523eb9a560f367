from p.gone import x
from p.gone import new
