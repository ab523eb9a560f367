import effects.base as base

(base.N, base.M) = 1, 2
