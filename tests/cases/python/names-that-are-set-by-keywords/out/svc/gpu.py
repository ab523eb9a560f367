from svc import client


def other():
    return 1


class Client:
    def get(self, host):
        return client.fetch(host)
