# -*- coding: latin-1 -*-
# café
import p.kernels
