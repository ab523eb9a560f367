class Lost(Exception):
    """Gone."""
