from pkg.flags import NOTHING
