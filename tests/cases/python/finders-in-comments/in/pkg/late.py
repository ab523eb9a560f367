def late(source):
    if source is None:
        return None
    # Imported late, to avoid "sys.meta_path is None" when the interpreter ends.
    import json

    return json
