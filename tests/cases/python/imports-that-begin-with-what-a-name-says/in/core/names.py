TAKEN = "taken"
