from p.heart import X
import p.gpu
