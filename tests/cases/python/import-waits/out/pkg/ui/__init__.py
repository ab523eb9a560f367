"""Offers what is drawn."""
from pkg.back.view import show, size
