"""Die Maulwurfshöhle: nine moles and two busy tiles each on a board of tunnels and caves, for two to four players."""

from companion.games.maulwurf.players import choose
from companion.games.maulwurf.rules import RULES

__all__ = ["RULES", "choose"]
