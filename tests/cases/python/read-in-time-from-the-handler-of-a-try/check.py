import pkg

assert repr(pkg.schema("a")) == "<a>"
