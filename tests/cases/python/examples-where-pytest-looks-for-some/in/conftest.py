collect_ignore_glob = ["pkg/core/slow/*.py"]
