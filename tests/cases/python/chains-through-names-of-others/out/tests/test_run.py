from unittest.mock import patch

import pkg
import pkg.core.hw
from pkg import run
from pkg.core import hw


def test_count():
    with patch.object(hw, "count", return_value=3):
        assert hw.count() == 3
    with patch.object(pkg.core.hw, "count", return_value=3):
        assert pkg.core.hw.count() == 3
