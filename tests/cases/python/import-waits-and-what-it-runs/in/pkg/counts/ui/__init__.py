"""Offers what is drawn."""
from pkg.counts.ui.view import show
