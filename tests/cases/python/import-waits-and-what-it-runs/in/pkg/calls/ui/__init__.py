"""Offers what is drawn."""
from pkg.calls.ui.view import show
