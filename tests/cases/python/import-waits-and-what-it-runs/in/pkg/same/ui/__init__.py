"""Offers what is drawn."""
from pkg.same.ui.view import show
