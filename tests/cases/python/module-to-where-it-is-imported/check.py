import p
import s

assert p.layers.dense() == 1
assert s.Net is s.layers.Net is s.models.Net
