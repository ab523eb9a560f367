import p.linked
