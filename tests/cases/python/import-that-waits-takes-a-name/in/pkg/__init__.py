"""A package whose parts are imported one by one."""
