from unittest.mock import patch
from pkg import proc


def test_patch():
    with patch("pkg.core.FLAG", True):
        assert proc.use() == "gpu"
