import cupy.cuda
import cupyx
from cupy import zeros  # coalesce: allow(no-raw-cupy, a probe)

# synchronize() in a comment is no call, and so is "x.synchronize()"
TEXT = "cupy.cuda.Device().synchronize()"
cupy.cuda.stream.synchronize()
print(zeros)  # FIXME
