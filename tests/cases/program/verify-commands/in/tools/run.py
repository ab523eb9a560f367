import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
name = "kern" + "els"
__import__("lidar.old." + name)
