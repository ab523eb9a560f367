from unittest.mock import patch

from svc.copy import copied


@patch("svc.gpu.fetch", return_value="fake")
def test_gpu(fetch):
    copied(1)


@patch("svc.client.fetch", return_value="fake")
def test_client(fetch):
    copied(1)
