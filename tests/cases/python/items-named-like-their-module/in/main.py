import sh
import sh.load

print(sh.resize([1, 2, 3, 4]))
