from om.gpu import plain
