import warnings
warnings.simplefilter("error")
import main
assert main.DDIM.__module__ == "pkg.sched.ddim"
