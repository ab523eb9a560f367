from p.gone import x
