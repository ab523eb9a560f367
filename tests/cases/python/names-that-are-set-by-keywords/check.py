from unittest import mock
from svc.gpu import Client
with mock.patch.multiple("svc.client", fetch=mock.DEFAULT) as found:
    found["fetch"].return_value = "fake"
    assert Client().get(1) == "fake"
