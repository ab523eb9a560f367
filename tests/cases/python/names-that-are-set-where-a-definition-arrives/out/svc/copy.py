from svc.client import fetch


def copied(host):
    return fetch(host)
