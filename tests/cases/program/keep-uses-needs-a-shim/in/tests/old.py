from pkg.gpu import begin
