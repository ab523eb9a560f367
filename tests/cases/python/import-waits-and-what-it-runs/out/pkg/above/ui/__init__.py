"""Offers what is drawn."""
from pkg.above.ui.view import show
