"""Settings."""


def read_settings(text):
    """Reads them."""
    found = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if not key.strip() or key.startswith("#"):
            continue
        found[key.strip()] = value.strip().split(",")
    return found
