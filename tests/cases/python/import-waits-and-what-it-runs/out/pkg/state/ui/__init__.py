"""Offers what is drawn."""
from pkg.state.ui.view import show
