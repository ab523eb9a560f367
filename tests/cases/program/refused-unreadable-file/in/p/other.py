# café, and nothing that moves
