collect_ignore = ["test_a.py"]
