import sh.resize
import sh.crop

print(sh.crop)
