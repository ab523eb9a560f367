from unittest.mock import patch

import pkg
from pkg import run


def test_count():
    with patch.object(run.gpu, "count", return_value=3):
        assert run.gpu.count() == 3
    with patch.object(pkg.device, "count", return_value=3):
        assert pkg.device.count() == 3
