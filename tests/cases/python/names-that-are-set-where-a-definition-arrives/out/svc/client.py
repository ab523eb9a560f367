def fetch(host):
    return "real"
