"""What a device is in."""
