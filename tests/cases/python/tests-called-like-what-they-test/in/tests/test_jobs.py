from lab.jobs import Circle, Job, Printer, normalise, run_fast


def get_normalise():
    return {"normalise": normalise}["normalise"]


def test_normalise():
    assert get_normalise()("A") == "a"


def test_run_fast():
    assert run_fast() == "fast"


def test_Job():
    assert Job().kind().startswith("J")


def test_Circle():
    assert Printer().show(Circle()) == "circle"


def test_third():
    from lab.both import third

    assert {"third": third}["third"]() == 3
