import sys

sys.path.insert(0, ".")
import lab.fits

assert lab.fits.cp is None
