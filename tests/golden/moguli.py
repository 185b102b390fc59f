"""Golden cases of Moguli: positions with counts, turns, games, and what explains a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from companion.games.contract import Explanation, Look, Refusal
from companion.games.moguli import RULES
from companion.games.moguli.board import BIT, DOORS, INDEX, NAMES, TURNED, code_from_rotation, doors_in, mask_of
from companion.games.moguli.judge import judge
from companion.games.moguli.looks import read_look
from companion.games.moguli.moves import can, can_in_turn, is_obliged, must_move, pawn_moves
from companion.games.moguli.notation import position_text
from companion.games.moguli.routes import witness
from companion.games.moguli.state import ACTS, BONUS, EXCHANGE, MOVE, ROTATE, Options, State, Turn, free_doors
from companion.games.moguli.turns import legal_turns, ordered_turns
from tests.golden import Case

Check = Callable[[Any], str | None]
PERFT_LIMIT = 2_000_000
"""Positions with more turns than this in two plies are counted to one ply only."""


def cases(data: Any, name: str) -> Iterator[Case]:
    """The cases of `moguli.json` and `moguli_explain.json`."""
    checks: dict[str, Check] = {"positions": position, "turns": one_turn, "games": game, "cases": explanation}
    for kind, check in checks.items():
        for case in data.get(kind, ()):
            yield Case("explain" if kind == "cases" else kind, case["id"], _bind(check, case))


def _bind(check: Check, case: Any) -> Callable[[], str | None]:
    return lambda: check(case)


def differ(**pairs: tuple[Any, Any]) -> str | None:
    """The first pair (ours, theirs) that differs, in words."""
    for name, (ours, theirs) in pairs.items():
        if ours != theirs:
            return f"{name}: engine {ours!r}, case {theirs!r}"
    return None


def state_of(position: Any) -> State:
    """The state of a golden position."""
    options = position["options"]
    setup = position.get("setup")
    return State(
        tiles=tuple(code_from_rotation(k == "STRAIGHT", t, r) for k, t, r in (position["tiles"][n] for n in NAMES)),
        pawns=(_pawns(position, 1), _pawns(position, 2)),
        to_move=position["to_move"] - 1,
        locked=mask_of(INDEX[name] for name in position["locked"]),
        blocked_run=position["blocked_run"],
        last_turn=position["last_turn"],
        options=Options(**options),
        setup=None if setup is None else setup - 1,
    )


def _pawns(position: Any, player: int) -> int:
    return mask_of(INDEX[name] for name, owner in position["pawns"].items() if owner == player)


def turn_of(acts: Any) -> Turn:
    """The turn of golden acts."""
    turn = []
    for kind, place, arg in acts:
        if kind == "M":
            turn.append(MOVE[INDEX[place]][INDEX[arg]])
        else:
            turn.append((ROTATE if kind == "R" else BONUS)[INDEX[place]][arg])
    return tuple(turn)


def text_of(state: State) -> str:
    """The golden text: our position line without what we add after the flags."""
    return " ".join(position_text(state).split()[:8])


def position(case: Any) -> str | None:
    """Counts and moves of one position."""
    state = state_of(case["position"])
    merged = legal_turns(state)
    moved = [turn for turn in merged if any(ACTS[a].kind == "M" and ACTS[a].place != ACTS[a].arg for a in turn)]
    pawns = state.pawns[0] | state.pawns[1]
    moves = []
    for door, ends, bonus, _, _ in pawn_moves(state):
        for end in doors_in(ends):
            foes = state.pawns[1 - state.to_move]
            route = witness(state.tiles, door, end, pawns ^ BIT[door], foes, state.options.cylinder)
            steps = -1 if route is None else route.steps
            moves.append([NAMES[door], NAMES[end], bool(bonus & BIT[end]), steps])
    parsed = RULES.parse_position(RULES.position_text(state))
    wrong = differ(
        text=(text_of(state), case["text"]),
        parsed=(
            parsed,
            replace(state, options=replace(state.options, new_starting_row=parsed.options.new_starting_row)),
        ),
        free=([free_doors(state, 0), free_doors(state, 1)], case["free"]),
        obliged=(is_obliged(state), case["obliged"]),
        can=(can(state), case["can"]),
        can_by_turn=(can_in_turn(state), case["can_by_turn"]),
        must_move=(must_move(state), case["must_move"]),
        pawn_moves=(sorted(moves), sorted(case["pawn_moves"])),
        rotation_count=(3 * (DOORS - state.locked.bit_count()), case["rotation_count"]),
        turns_unmerged=(sum(1 for _ in ordered_turns(state)), case["turns_unmerged"]),
        turns_merged=(len(merged), case["turns_merged"]),
        next_states=(len({judge(state, turn) for turn in merged}), case["turns_merged"]),
        turns_merged_pawn_moved=(len(moved), case["turns_merged_pawn_moved"]),
        perft_moves_1=(perft_moves(state, 1), case["perft_moves_1"]),
        perft_moves_2=(perft_moves(state, 2), case["perft_moves_2"]),
    )
    if wrong or case["perft_2"] is None or case["perft_2"] > PERFT_LIMIT:
        return wrong
    return differ(perft_2=(sum(len(legal_turns(after(state, turn))) for turn in merged), case["perft_2"]))


def after(state: State, turn: Turn) -> State:
    """The next state; raises ValueError when the turn is refused."""
    following = judge(state, turn)
    if isinstance(following, Refusal):
        raise ValueError(f"{RULES.text(turn)} refused: {following.rule}")
    return following


def perft_moves(state: State, depth: int) -> int:
    """Sequences of different next states by turns without any rotation: nothing where legal, or one move."""
    if depth == 0:
        return 1
    if state.over is not None:
        return 0
    turns: list[Turn] = [()]
    turns += [(MOVE[door][end],) for door, ends, _, _, _ in pawn_moves(state) for end in doors_in(ends)]
    following = {judge(state, turn) for turn in turns}
    return sum(perft_moves(state, depth - 1) for state in following if isinstance(state, State))


def one_turn(case: Any) -> str | None:
    """A turn that is legal, with the state after it, or refused."""
    before = state_of(case["before"])
    turn = turn_of(case["turn"])
    if RULES.parse(RULES.text(turn)) != turn:
        return f"{RULES.text(turn)!r} does not read back"
    following = judge(before, turn)
    if isinstance(following, Refusal):
        return differ(legal=(f"refused {following.rule}", case["legal"])) if case["legal"] else None
    if not case["legal"]:
        return f"engine allows {RULES.text(turn)}, case does not"
    return compare(following, case["after"]) or listed(before, following)


def listed(before: State, following: State) -> str | None:
    """Whether the merged list leads to this state too."""
    found = any(judge(before, turn) == following for turn in legal_turns(before))
    return None if found else "the state after is not among those of the merged list"


def compare(state: State, golden: Any) -> str | None:
    """Our state against a golden position with its end."""
    over = golden.get("over")
    wrong = differ(over=(over_of(state), over and (over["winner"], over["why"])))
    if wrong or over:
        return wrong
    options = {"options": {name: getattr(state.options, name) for name in Options.__slots__}}
    theirs = state_of({**options, **golden})
    return differ(
        tiles=(state.tiles, theirs.tiles),
        pawns=(state.pawns, theirs.pawns),
        to_move=(state.to_move, theirs.to_move),
        locked=(state.locked, theirs.locked),
        blocked_run=(state.blocked_run, theirs.blocked_run),
        last_turn=(state.last_turn, theirs.last_turn),
        setup=(state.setup, theirs.setup),
    )


def over_of(state: State) -> tuple[int, str] | None:
    """The end in the words of the cases: (0 draw, 1, 2; why)."""
    if state.over is None:
        return None
    winner = 0 if state.over.winner is None else state.over.winner + 1
    return winner, state.over.why.replace("_", " ")


def game(case: Any) -> str | None:
    """A whole game, step by step."""
    state = state_of(case["start"])
    for number, step in enumerate(case["steps"], 1):
        following = judge(state, step_turn(step))
        if isinstance(following, Refusal):
            return f"step {number}: refused {following.rule} {following.places}"
        state = following
        over = step.get("over")
        wrong = differ(over=(over_of(state), over and (over["winner"], over["why"])))
        if not wrong and "text" in step:
            wrong = differ(text=(text_of(state), step["text"]))
        if not wrong and "after" in step:
            wrong = compare(state, step["after"])
        if wrong:
            return f"step {number}: {wrong}"
    return None


def step_turn(step: Any) -> Turn:
    """The turn that a step of a game stands for."""
    if "exchange" in step:
        return (EXCHANGE[step["exchange"] or 0],)
    if "resign" in step:
        return (f"resign {step['resign']}",)
    if step.get("agree_draw"):
        return ("draw",)
    return turn_of(step["turn"])


def seen_of(visible: Any) -> Look:
    """The look that a case says is seen."""
    look = {}
    for name in NAMES:
        path, triangle = visible["tiles"][name]
        look[f"path:{name}"] = path
        look[f"triangle:{name}"] = "yes" if triangle else "no"
        look[f"pawn:{name}"] = str(visible["pawns"].get(name, "-"))
    return look


def explanation(case: Any) -> str | None:
    """What explains a look: compared with the case and with every legal turn tried one by one."""
    before = state_of(case["before"])
    look = seen_of(case["after_visible"])
    answer = case["answer"]
    ours: Explanation[State, Turn] = RULES.explain(before, look)
    if not answer["legal"]:
        if ours.stories:
            return f"engine explains it by {RULES.text(ours.stories[0].turn)}"
        return None if ours.refusals else "neither story nor refusal"
    if not ours.stories:
        return f"engine refuses: {[refusal.rule for refusal in ours.refusals]}"
    tiles, pawns = read_look(look)
    best: dict[State, tuple[int, str]] = {}
    unmerged: list[tuple[int, Turn]] = []
    for turn in ordered_turns(before):
        if not leads_there(before, turn, tiles, pawns):
            continue
        following = after(before, turn)
        unseen = len(turn) - visible_changes(before, following)
        unmerged.append((unseen, turn))
        best[following] = min(best.get(following, (9, "")), (unseen, RULES.text(turn)))
    fewest = min(unseen for unseen, _ in unmerged)
    consequences = {consequence(turn) for _, turn in unmerged}
    with_fewest = {consequence(turn) for unseen, turn in unmerged if unseen == fewest}
    theirs = {(move and tuple(move), tuple(sorted(locks))) for move, locks in answer["consequences_with_fewest"]}
    first = ours.stories[0]
    return differ(
        explanations=(len(unmerged), answer["explanations"]),
        fewest_unseen_acts=(first.unseen, answer["fewest_unseen_acts"]),
        consequences=(len(consequences), answer["consequences"]),
        consequences_with_fewest=(with_fewest, theirs),
        first=(consequence(first.turn) in theirs, True),
        stories=({s.after: (s.unseen, RULES.text(s.turn)) for s in ours.stories}, best),
        order=([(s.unseen, RULES.text(s.turn)) for s in ours.stories], sorted(best.values())),
    )


def leads_there(before: State, turn: Turn, tiles: tuple[int, ...], pawns: tuple[int, int]) -> bool:
    """Whether the acts of a legal turn make these tiles and pawns of the ones before."""
    turned = dict(enumerate(before.tiles))
    mine = before.pawns[before.to_move]
    for act in turn:
        kind, place, arg = ACTS[act]
        if kind == "M":
            mine = mine & ~BIT[place] | BIT[arg]
        else:
            turned[place] = TURNED[turned[place]][arg]
    return mine == pawns[before.to_move] and tuple(turned.values()) == tiles


def visible_changes(before: State, following: State) -> int:
    """Tiles whose picture changed, and one for a pawn that moved."""
    tiles = sum(old != new for old, new in zip(before.tiles, following.tiles, strict=True))
    return tiles + (before.pawns != following.pawns)


def consequence(turn: Turn) -> tuple[tuple[str, str] | None, tuple[str, ...]]:
    """The pawn move and the locked tiles of a turn."""
    acts = [ACTS[act] for act in turn]
    move = next(((NAMES[act.place], NAMES[act.arg]) for act in acts if act.kind == "M"), None)
    return move, tuple(sorted({NAMES[act.place] for act in acts if act.kind != "M"}))
