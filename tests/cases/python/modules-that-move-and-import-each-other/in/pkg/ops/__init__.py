from pkg.table import TABLE

TABLE.append("ops")
