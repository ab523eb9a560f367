from unittest.mock import patch
from svc import gpu, set
with patch("svc.gpu.fetch", return_value="fake"):
    assert gpu.Client().get(1) == "real"
with patch("svc.client.fetch", return_value="fake"):
    assert gpu.Client().get(1) == "fake"
set.install(lambda host: "set")
assert gpu.Client().get(1) == "set"
