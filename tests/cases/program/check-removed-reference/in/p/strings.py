"""Prose may say that p.old was here."""

WORKER = "p.old.run"
NAME = "p.older"
print("the module p.stub is gone")
