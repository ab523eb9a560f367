"""Each view needs `pkg.ui` at its head for another reason."""
