NOW = 0
