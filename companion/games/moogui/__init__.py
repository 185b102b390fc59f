"""Moogui: figures thrown like dice into an arena; rules, catalogue of figures, ledger of pieces, simple players."""

from companion.games.moogui.rules import RULES

__all__ = ["RULES"]
