from pkg.tools import BY_NAME

MADE = BY_NAME["made"]("calls")
