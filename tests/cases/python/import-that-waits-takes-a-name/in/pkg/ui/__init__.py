"""Offers what is drawn."""
from pkg.ui.view import show, size
