"""MOOGH (2016): up to four cavemen hunt a beast that escapes, tramples and shakes; rules, card set, simple players."""

from companion.games.moogh.rules import RULES

__all__ = ["RULES"]
