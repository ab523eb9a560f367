import gained.base

gained.base.TABLE += ['u']
