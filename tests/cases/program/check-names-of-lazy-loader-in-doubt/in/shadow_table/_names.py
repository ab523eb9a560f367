_n = {"core": ["A", "B"]}
