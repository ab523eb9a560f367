import pkg.h
