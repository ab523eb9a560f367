import os

if os.environ.get("BM_GPU"):
    from bm import gpu as chosen
else:
    from bm import cpu as chosen
