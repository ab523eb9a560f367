from pkg.kb.bindings.page import x
