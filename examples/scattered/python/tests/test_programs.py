"""The programs answer the same before and after the modules have found a home."""

import unittest
from unittest import mock

from lidar import filter, report
from lidar.optimization import gpu
from lidar.optimization.gpu_wrapper import GpuRequiredError, require_gpu


class Programs(unittest.TestCase):
    def test_heights_are_filtered(self):
        high, size = filter.run([1.0, 2.0, 3.0], 1.5)
        self.assertEqual((high, size), ([2.0, 3.0], 24))
        self.assertEqual(filter.TILES.get("last"), high)
        self.assertTrue(any(line.startswith("filter: ") for line in report.lines()))

    def test_there_is_one_manager(self):
        self.assertIs(gpu.get_gpu_manager(), gpu.get_gpu_manager())
        self.assertIn("cpu", gpu.detect_gpu_backends())

    def test_a_gpu_is_there_or_an_error(self):
        with mock.patch("lidar.optimization.gpu_wrapper.check_gpu_available", return_value=False):
            with self.assertRaises(GpuRequiredError):
                require_gpu()


if __name__ == "__main__":
    unittest.main()
