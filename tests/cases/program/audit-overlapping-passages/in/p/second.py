"""Two."""


def printed_mail(table, sender, receivers):
    """A mail of it."""
    lines = ["From: " + sender]
    while receivers:
        lines.append("To: " + receivers.pop())
    lines.append("")
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
    total = sum(row.weight for row in rows)
    mean = total / max(1, len(rows))
    spread = sum((row.weight - mean) ** 2 for row in rows)
    lines.append(f"{total:.3f} {mean:.3f} {spread:.3f}")
    lines.append(f"{min(widths)} {max(widths)} {len(names)}")
    lines.extend(sorted(set(names)))
    lines.append(header.upper().strip())
    lines.reverse()
    with open(sender) as signature:
        lines.extend(signature.readlines())
    return lines
