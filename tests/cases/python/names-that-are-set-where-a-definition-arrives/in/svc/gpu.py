from svc.client import fetch
from svc import client


def remote(host):
    return fetch(host), client.fetch(host)
