"""Offers what is drawn."""
from pkg.outside.ui.view import show
