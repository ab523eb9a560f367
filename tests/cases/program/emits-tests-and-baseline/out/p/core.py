from p.gpu import X
