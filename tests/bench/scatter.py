# SPDX-License-Identifier: MIT
"""Pictures of predicted against measured: SVG, both axes logarithmic, a panel a model, a colour a group."""
import html
import math

SIDE, GAP, MARGIN, HEAD, FOOT = 380, 34, 62, 84, 52
# Blue, orange, green, purple of Okabe and Ito's palette, which colour-blind people can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#666666")


def ticks(low, high):
    """1, 2 and 5 times powers of ten from low to high."""
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        found += [digit * 10.0 ** power for digit in (1, 2, 5) if low <= digit * 10.0 ** power <= high]
    return found


def number(value):
    return f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:,.0f}".replace(",", " ")


def text(x, y, what, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{html.escape(what)}</text>'


class Axes:
    """Where a value stands in a panel."""

    def __init__(self, values, left, top):
        low, high = min(values) / 1.15, max(values) * 1.15
        self.low, self.high, self.left, self.top = low, high, left, top

    def along(self, value):
        value = min(max(value, self.low), self.high)
        return math.log(value / self.low) / math.log(self.high / self.low) * SIDE

    def x(self, value):
        return self.left + self.along(value)

    def y(self, value):
        return self.top + SIDE - self.along(value)

    def line(self, factor):
        """The corners of y = factor * x inside the panel."""
        start, end = max(self.low, self.low / factor), min(self.high, self.high / factor)
        return (self.x(start), self.y(start * factor)), (self.x(end), self.y(end * factor))


def panel(axes, title, groups, band, colours):
    corners = [*axes.line(1 + band), *reversed(axes.line(1 - band))]
    out = [f'<rect x="{axes.left}" y="{axes.top}" width="{SIDE}" height="{SIDE}" fill="#fff" stroke="#888"/>',
           '<polygon fill="#e4e4e4" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in corners) + '"/>']
    for value in ticks(axes.low, axes.high):
        x, y = axes.x(value), axes.y(value)
        out += [f'<path d="M{x:.1f} {axes.top + SIDE}v-{SIDE}M{axes.left} {y:.1f}h{SIDE}" stroke="#eee" fill="none"/>',
                text(x, axes.top + SIDE + 16, number(value), size=11),
                text(axes.left - 6, y + 4, number(value), "end", 11)]
    (x1, y1), (x2, y2) = axes.line(1)
    out.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#444" stroke-dasharray="5 3"/>')
    for name, points in groups.items():
        for measured, predicted, label in points:
            out.append(f'<circle cx="{axes.x(measured):.1f}" cy="{axes.y(predicted):.1f}" r="2.6" fill-opacity="0.65" '
                       f'fill="{colours[name]}"><title>{html.escape(label)}</title></circle>')
    out.append(text(axes.left + SIDE / 2, axes.top - 9, title, size=13))
    return out


def picture(title, unit, panels, columns, band=0.1):
    """panels: (title, {group: [(measured, predicted, label)]}), row by row. All have the same axes."""
    values = [value for _, groups in panels for points in groups.values() for p in points for value in p[:2]]
    names = list(dict.fromkeys(name for _, groups in panels for name in groups))
    colours = dict(zip(names, COLOURS))
    rows = -(-len(panels) // columns)
    width = MARGIN + columns * (SIDE + GAP + MARGIN) - MARGIN
    height = HEAD + rows * (SIDE + HEAD - 24) + FOOT - 36
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" fill="#222">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
           text(MARGIN, 26, title, "start", 16, ' font-weight="bold"')]
    at = MARGIN
    for name in names:
        out += [f'<circle cx="{at + 5}" cy="44" r="5" fill="{colours[name]}"/>', text(at + 15, 48, name, "start")]
        at += 40 + 8 * len(name)
    out += [f'<path d="M{at} 44h24" stroke="#444" stroke-dasharray="5 3"/>', text(at + 30, 48, "the same", "start"),
            f'<rect x="{at + 104}" y="38" width="24" height="12" fill="#e4e4e4"/>',
            text(at + 134, 48, f"within {100 * band:.0f} %", "start")]
    for i, (name, groups) in enumerate(panels):
        axes = Axes(values, MARGIN + i % columns * (SIDE + GAP + MARGIN), HEAD + i // columns * (SIDE + HEAD - 24))
        out += panel(axes, name, groups, band, colours)
        middle = axes.top + SIDE / 2
        out += [text(axes.left + SIDE / 2, axes.top + SIDE + 34, f"measured, {unit}"),
                text(axes.left - 44, middle, f"predicted, {unit}", more=f' transform="rotate(-90 {axes.left - 44} '
                                                                       f'{middle})"')]
    return "\n".join([*out, "</svg>\n"])
