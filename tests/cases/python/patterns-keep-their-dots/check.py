from pkg.handle import Kind, handle
assert [handle(0), handle({"key": 2}), handle(Kind.FAST), handle(5)] == ["ok", 2, "fast", "other"]
