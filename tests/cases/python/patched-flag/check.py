from unittest.mock import patch
from pkg import proc
with patch("pkg.core.FLAG", True):
    assert proc.use() == "gpu"
assert proc.use() == "cpu"
