"""Fails before as well."""
import nothing_that_is_installed
