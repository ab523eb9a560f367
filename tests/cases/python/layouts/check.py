import sys

sys.path.insert(0, "src")
import demo
import space.plugin.tools

assert demo.run() == 1 and space.plugin.tools.VALUE == 1
