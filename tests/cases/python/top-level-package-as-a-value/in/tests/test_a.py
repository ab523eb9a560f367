import unittest
from unittest.mock import patch
import oldpkg.a
class T(unittest.TestCase):
    def test(self):
        with patch("oldpkg.a.g", return_value=4): self.assertEqual(oldpkg.a.f(), 4)
        with patch.object(oldpkg, "__version__", "z"): self.assertEqual(oldpkg.f(), "z")
