"""Nothing is here."""
