import runpy
import unittest


class TestRun(unittest.TestCase):
    def test_run(self):
        self.assertTrue(runpy.run_module("pkg.run"))


if __name__ == "__main__":
    unittest.main()
