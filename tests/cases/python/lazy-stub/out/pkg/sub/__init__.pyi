from ._gauss import gaussian
