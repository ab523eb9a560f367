import gained.base

gained.base.N = 7
