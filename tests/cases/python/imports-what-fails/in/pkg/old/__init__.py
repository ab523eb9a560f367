from pkg.ops import gone
