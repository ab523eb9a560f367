def fetch(host):
    return "real"


class Client:
    def get(self, host):
        return fetch(host)
