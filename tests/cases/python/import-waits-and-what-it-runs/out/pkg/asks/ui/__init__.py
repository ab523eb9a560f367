"""Offers what is drawn."""
from pkg.asks.ui.view import show
