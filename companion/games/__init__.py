"""Rules of the games: pure, standard library only. The registry of games is `companion.registry`."""
