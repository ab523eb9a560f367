"""Reports the outcome of each test, a JSON line each, to the file that COALESCE_VERIFY_REPORT names."""

import json
import os


def _places(report):
    found = []
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    for entry in reversed(entries):
        location = getattr(entry, "reprfileloc", None)
        if location is not None:
            found.append([location.path, location.lineno])
    return found


def _message(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else str(report.longrepr or "")


def _write(report, failed):
    line = {"test": report.nodeid, "failed": failed}
    if failed:
        line["message"], line["places"] = _message(report), _places(report)
    with open(os.environ["COALESCE_VERIFY_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def pytest_runtest_logreport(report):
    if report.failed or report.when == "call":
        _write(report, report.failed)


def pytest_collectreport(report):
    if report.failed:
        _write(report, True)
