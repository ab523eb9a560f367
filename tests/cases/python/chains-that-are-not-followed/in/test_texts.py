from unittest.mock import patch


def test_count():
    with patch("texts.device.count", return_value=3):
        pass
