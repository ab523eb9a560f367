from p.core import X
import p.kernels
