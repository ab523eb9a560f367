from pkg.core.gpu import begin
from pkg.core.choice import pick

begin()
pick()
