"""Moguli (two players): rules, notation, explanation, players. `RULES` is the whole of it behind the contract."""

from companion.games.moguli.rules import RULES as RULES
from companion.games.moguli.start import deal as deal
