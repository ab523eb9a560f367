"""Fourier and the like."""
