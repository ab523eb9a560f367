import importlib
import sys
import types

import app.load


def test_fake(monkeypatch):
    fake = types.ModuleType("yaml")
    fake.load = lambda text: "fake"
    monkeypatch.setitem(sys.modules, "yaml", fake)
    importlib.reload(app.load)
    assert app.load.load("x") == "fake"
