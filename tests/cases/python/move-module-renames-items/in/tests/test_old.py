from unittest import mock

import lab.old


def test_pick():
    with mock.patch("lab.old.pick_device", return_value=1):
        assert lab.old.default().size == 1
