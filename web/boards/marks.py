"""Marks on a place, the same on every board: each role has its own outline and its own sign, not only its colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.bulletin import Mark

_SIGN = {
    "illegal": '<path d="M-4.5-4.5l9 9M4.5-4.5l-9 9" stroke="#fff" stroke-width="3" stroke-linecap="round"/>',
    "question": (
        '<path d="M-3.5-2.5a3.5 3.5 0 1 1 5 3.2q-1.5.8-1.5 2.3M0 6v.5" fill="none" stroke="#fff" stroke-width="2.6" '
        'stroke-linecap="round"/>'
    ),
    "provisional": '<g fill="#fff"><circle cx="-4.5" r="1.8"/><circle r="1.8"/><circle cx="4.5" r="1.8"/></g>',
    "last": '<path d="M-4.5 0l3 3.5l6-7" fill="none" stroke="#fff" stroke-width="2.8" stroke-linecap="round"/>',
    "hint": '<path d="M0-5v5.5M0 5v.3" stroke="#fff" stroke-width="3" stroke-linecap="round"/>',
    "draft": '<path d="M-4 4l1-3l5.5-5.5l2 2L-1 3z" fill="#fff"/>',
}
_LOOK = {
    "illegal": ("#c01f2e", 'stroke-width="5"'),
    "question": ("#7b2fb5", 'stroke-width="4.5" stroke-dasharray="10 5"'),
    "provisional": ("#a85b00", 'stroke-width="4.5" stroke-dasharray="3 4"'),
    "last": ("#0b6e4f", 'stroke-width="3.5"'),
    "hint": ("#1c5d99", 'stroke-width="4" stroke-dasharray="14 4 2 4"'),
    "draft": ("#0f62c9", 'stroke-width="4" stroke-dasharray="6 3"'),
}


def draw_marks(marks: Sequence[Mark], places: Mapping[str, tuple[int, int]], size: int) -> str:
    """All marks on a board of square places: `places` maps each to its upper left corner, `size` is a place's side.

    Outlines come first, then the signs in the corners, so that no sign is covered. A mark of an unknown place is left
    out; an unknown role is drawn as a hint.
    """
    shown = [
        (places[mark.place], mark.role if mark.role in _LOOK else "hint") for mark in marks if mark.place in places
    ]
    out = []
    for (x, y), role in shown:
        colour, stroke = _LOOK[role]
        frame = f'<rect x="2" y="2" width="{size - 4}" height="{size - 4}" rx="6" fill="none"'
        out.append(
            f'<g class="mark {role}" transform="translate({x} {y})">{frame} stroke="#fff" stroke-width="6" '
            f'opacity=".8"/>{frame} stroke="{colour}" {stroke}/></g>'
        )
    for (x, y), role in shown:
        out.append(
            f'<g class="sign {role}" transform="translate({x + size - 4} {y + 4}) scale(.86)">'
            f'<circle r="10" fill="{_LOOK[role][0]}" stroke="#fff" stroke-width="1.5"/>{_SIGN[role]}</g>'
        )
    return "".join(out)
