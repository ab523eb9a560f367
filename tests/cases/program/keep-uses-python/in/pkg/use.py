from pkg.gpu import begin
from pkg.tools import pick

begin()
pick()
