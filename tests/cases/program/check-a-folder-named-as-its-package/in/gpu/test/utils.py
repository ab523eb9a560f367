"""Called `test.utils`: what its folder is called is no package."""
import gpu.test.utils
