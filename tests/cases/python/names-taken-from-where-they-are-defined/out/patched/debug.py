import patched
from patched.signal import Wide

patched.Signal = Wide
