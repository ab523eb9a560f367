from unittest import mock

import lab.core.gpu


def test_pick():
    with mock.patch("lab.core.gpu.select_device", return_value=1):
        assert lab.core.gpu.default().size == 1
