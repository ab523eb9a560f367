import p.later
