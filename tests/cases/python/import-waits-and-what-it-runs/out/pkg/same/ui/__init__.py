"""Offers what is drawn."""
from pkg.same.back.view import show
