"""Muggins: dominoes in one line, the two ends scored by fives, for two to four players."""

from companion.games.muggins.players import choose
from companion.games.muggins.rules import RULES

__all__ = ["RULES", "choose"]
