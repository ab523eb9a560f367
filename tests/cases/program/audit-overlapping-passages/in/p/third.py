"""Three."""


def printed_log(table, level, clock):
    """A log of it."""
    lines = [clock.now().isoformat(), level.name]
    assert level.value > 3, "too low"
    rows = sorted(table.rows, key=lambda row: row.place)
    names = [column.name for column in table.columns]
    widths = [max(len(name), 8) for name in names]
    header = "|".join(name.ljust(width) for name, width in zip(names, widths))
    lines.append(header)
    lines.append("-" * len(header))
    for row in rows:
        cells = [str(cell).ljust(width) for cell, width in zip(row.cells, widths)]
        lines.append("|".join(cells))
    lines.append("=" * len(header))
    lines.append(str(len(rows)).rjust(len(header)))
    try:
        clock.stop()
    except RuntimeError:
        lines.append("stopped before")
    return "\r\n".join(lines[: level.value])
