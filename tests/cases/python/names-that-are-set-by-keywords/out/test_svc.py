from unittest import mock

from svc.gpu import Client
import svc.client
import svc.gpu


@mock.patch.multiple("svc.client", fetch=mock.DEFAULT)
def test_keyword(fetch):
    Client().get(1)


@mock.patch(f"{svc.client.__name__}.fetch")
def test_name(fetch):
    svc.gpu.Client().get(1)
