class Handler:
    def handle(self, e): return getattr(self, "on_" + type(e).__name__.lower())(e)
    def on_orderplaced(self, e): return f"placed {e.n}"
    def on_orderpaid(self, e): return f"paid {e.n}"
