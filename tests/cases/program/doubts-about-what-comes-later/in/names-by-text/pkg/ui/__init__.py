from pkg.ui.brush import stroke
