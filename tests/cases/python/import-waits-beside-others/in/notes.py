"""As a guide: `draw.kernel(0)` gives nothing."""
