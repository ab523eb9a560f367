from pkg.asked import call
from pkg.held import ops as held
from pkg.table import ops

print(ops.f(), call("g"), held.own())
