"""Speed of the rules engines: CPU time of one thread, and Moguli's moves as a ratio to python-chess in the same run."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from companion.games.contract import Json, Look, Refusal, Rules, Setup
from companion.games.moguli import RULES
from companion.games.moguli.moves import can_in_turn, pawn_moves
from companion.games.moguli.planted import illegal
from companion.games.moguli.players import choose, hint
from companion.games.moguli.start import deal
from companion.games.moguli.state import State
from companion.registry import GAMES, GameEntry

MIDDLE_GAME = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P4/2PBPN2/PP1N1PPP/R1BQ1RK1 w - - 0 9"
SEED = 11
GAMES_PLAYED = 8
TURNS_A_GAME = 40
SAMPLE = 150
NAMES = ("1", "2", "3", "4", "5", "6")


def figures() -> dict[str, Json]:
    """All figures by name; those with python-chess only where it is installed."""
    return {**moguli(), **legal_lists()}


def _cpu_us(work: Callable[[], Any], repeats: int = 1) -> float:
    """The best of three CPU times of one call, in microseconds, with nothing kept from the call before."""
    best = float("inf")
    for _ in range(3):
        can_in_turn.cache_clear()
        began_s = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - began_s) / repeats)
    return 1e6 * best


def _played(chance: random.Random) -> list[tuple[State, State]]:
    """Pairs of successive states from games with the published tiles and the default options."""
    pairs = []
    for _ in range(GAMES_PLAYED):
        state = RULES.new(Setup(NAMES[:2], {}, deal(chance)))
        for _ in range(TURNS_A_GAME):
            if state.over is not None:
                break
            after = RULES.apply(state, choose(state, chance))
            assert isinstance(after, State)
            pairs.append((state, after))
            state = after
    return chance.sample(pairs, min(SAMPLE, len(pairs)))


def moguli() -> dict[str, Json]:
    """Moguli's moves, lists of turns, explanations and hints."""
    chance = random.Random(SEED)
    pairs = _played(chance)
    moves = [_cpu_us(lambda s=state: pawn_moves(s), 20) for state, _ in pairs]  # type: ignore[misc]
    sizes = [len(list(RULES.legal(state))) for state, _ in pairs]
    lists = [_cpu_us(lambda s=state: RULES.legal(s)) for state, _ in pairs]  # type: ignore[misc]
    explained = [_explained(state, RULES.look(after)) for state, after in pairs]
    unchanged = [_explained(state, RULES.look(state)) for state, _ in pairs]
    refused = []
    for state, _ in pairs:
        planted = illegal(state, chance)
        if planted is not None:
            refused.append(_explained(state, {**RULES.look(state), **planted[0]}))
    hints = [_cpu_us(lambda s=state: hint(s)) for state, _ in pairs[:20]]  # type: ignore[misc]
    found: dict[str, Json] = {
        "moguli_pawn_moves_us": round(statistics.median(moves), 1),
        "moguli_turns_median": statistics.median(sizes),
        "moguli_legal_ms": round(statistics.median(lists) / 1000, 2),
        "moguli_turns_most": max(sizes),
        "moguli_legal_ms_most": round(lists[sizes.index(max(sizes))] / 1000, 1),
        "moguli_legal_ms_per_75000": round(75 * max(lists) / max(sizes), 1),
        **_spread("moguli_explain_legal_ms", explained),
        **_spread("moguli_explain_unchanged_ms", unchanged),
        **_spread("moguli_explain_illegal_ms", refused),
        **_spread("moguli_hint_ms", hints),
    }
    chess_us = python_chess_us()
    if chess_us is not None:
        found["python_chess_legal_us"] = round(chess_us, 1)
        found["moguli_pawn_moves_to_chess"] = round(statistics.median(moves) / chess_us, 2)
    return found


def _explained(state: State, look: Look) -> float:
    return _cpu_us(lambda: RULES.explain(state, look))


def _spread(name: str, times_us: list[float]) -> dict[str, Json]:
    return {
        f"{name}_median": round(statistics.median(times_us) / 1000, 3),
        f"{name}_worst": round(max(times_us) / 1000, 3),
    }


def python_chess_us() -> float | None:
    """In which time python-chess lists the legal moves of a middle-game position; None where it is not installed."""
    try:
        import chess
    except ImportError:
        return None
    board = chess.Board(MIDDLE_GAME)
    return _cpu_us(lambda: list(board.legal_moves), 200)


def legal_lists() -> dict[str, Json]:
    """Every game's list of legal turns, median over a random game with the most players."""
    return {f"{name}_legal_list_ms": figure for name in GAMES if (figure := _legal_ms(GAMES[name])) is not None}


def _legal_ms(entry: GameEntry) -> float | None:
    rules: Rules[Any, Any] = entry.load_rules()
    chance = random.Random(SEED)
    start = entry.deal_start(chance)
    state = rules.new(Setup(NAMES[: rules.max_players], {}, start))
    player = entry.load_choose()
    times = []
    for _ in range(TURNS_A_GAME):
        if rules.outcome(state) is not None:
            break
        times.append(_cpu_us(lambda s=state: list(rules.legal(s))))  # type: ignore[misc]
        after = rules.apply(state, player(state, chance))
        if isinstance(after, Refusal):
            break
        state = after
    return round(statistics.median(times) / 1000, 3) if times else None
