"""What the others stand on."""
