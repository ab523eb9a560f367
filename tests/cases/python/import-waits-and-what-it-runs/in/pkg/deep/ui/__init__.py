"""Offers what is drawn."""
from pkg.deep.ui.view import show
