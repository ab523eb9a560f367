"""Offers what is drawn."""
from pkg.set_elsewhere.ui.view import show
