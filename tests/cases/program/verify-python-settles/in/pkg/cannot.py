import nowhere_at_all
from pkg.tools import BY_NAME

MADE = BY_NAME["made"]("cannot")
