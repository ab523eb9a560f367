# -*- coding: latin-1 -*-
def z():
    return 0
