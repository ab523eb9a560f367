"""All of pkg."""
