from .. import gpu
