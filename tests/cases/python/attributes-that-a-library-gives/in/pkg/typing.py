Expression = int
