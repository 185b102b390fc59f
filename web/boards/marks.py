"""Marks on a place, the same on every board: each role has its own outline and its own sign, not only its colour."""

from __future__ import annotations

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


def draw_frame(role: str, size: int) -> str:
    """The outline of a mark over a square place of this size; an unknown role is drawn as a hint."""
    colour, stroke = _LOOK.get(role, _LOOK["hint"])
    frame = f'<rect x="2" y="2" width="{size - 4}" height="{size - 4}" rx="6" fill="none"'
    return f'{frame} stroke="#fff" stroke-width="6" opacity=".8"/>{frame} stroke="{colour}" {stroke}/>'


def draw_sign(role: str, size: int) -> str:
    """The sign of a mark in the corner of its place; to be drawn above all outlines."""
    role = role if role in _LOOK else "hint"
    return (
        f'<g transform="translate({size - 4} 4) scale(.86)">'
        f'<circle r="10" fill="{_LOOK[role][0]}" stroke="#fff" stroke-width="1.5"/>{_SIGN[role]}</g>'
    )
