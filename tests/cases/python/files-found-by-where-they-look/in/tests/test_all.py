import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "helpers")))

import common


def test_one():
    assert common.one() == 1
