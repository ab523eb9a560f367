"""Each view needs `pkg.ui` when it is called."""
