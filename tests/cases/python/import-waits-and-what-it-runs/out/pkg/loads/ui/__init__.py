"""Offers what is drawn."""
from pkg.loads.ui.view import show
