from pkg.tools import BY_NAME, KINDS

KINDS.append("ops")
