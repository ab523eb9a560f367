import p.gone
