KIND = "old"
