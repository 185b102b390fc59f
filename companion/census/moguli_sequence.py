"""A filmed Moguli game: every frame shown for two seconds, the turns that the whole chain infers against the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from companion.census.moguli import Shot, count_reading, facts_of, players_colours, profile_of, shots
from companion.census.tally import ASKED, RIGHT, WRONG, Tally, decoded, timed
from companion.evidence import Author, Chose, Seen
from companion.eyes import AGAIN_S
from companion.games.contract import Look, Refusal
from companion.match import Choice, Match
from companion.registry import game
from companion.step import step
from devices.contract import Frame
from vision.reading import Reading
from vision.settler import Settler
from vision.tiles import TileReader

SHOWN_S = 2.0
FRAME_S = 0.1
CAMERA, PEOPLE = Author("camera", "census"), Author("program", "census")


def recognise(folder: Path) -> bool:
    """True for a folder with a Moguli `sequence.json`."""
    return (folder / "sequence.json").exists() and bool(shots(folder))


def read(folder: Path) -> Tally:
    """The game from its first frame to its last."""
    tally = Tally()
    sequence = json.loads((folder / "sequence.json").read_text(encoding="utf-8"))
    pictures = {s.picture.name: s for s in shots(folder)}
    frames = [pictures[f["image"]] for f in sequence["frames"] if f["image"] in pictures]
    after = {f["image"]: int(f["after_turn"]) for f in sequence["frames"]}
    colours = players_colours(s.truth for s in frames)
    game_watched = _Game(folder.name, sequence, tally)
    reader, settler = TileReader(profile_of(frames[0].truth, colours)), Settler()
    number = 0
    for shot in frames:
        picture, decode_s = decoded(shot.picture)
        tally.pictures += 1
        if picture is None:
            tally.count("board", WRONG, file=f"{folder.name}/{shot.name}", place="", said="no picture", truth="board")
            continue
        reading, read_s = None, -SHOWN_S
        for _ in range(round(SHOWN_S / FRAME_S)):
            frame = Frame(picture, number, number * FRAME_S, str(folder))
            number += 1
            rest, settle_s = timed(lambda frame=frame: settler.feed(frame))  # type: ignore[misc]
            tally.ratios.setdefault("settler", []).append(settle_s / decode_s)
            if not (rest.fresh or (rest.state == "still" and frame.time_s - read_s >= AGAIN_S)):
                continue
            name = "again" if reading is not None else "tracked" if number > SHOWN_S / FRAME_S else "cold"
            if name == "tracked" and shot.truth.get("frame_kind") == "hand":
                name = "hand"
            seen, cost_s = timed(lambda frame=frame: reader.read(frame))  # type: ignore[misc]
            tally.ratios.setdefault(name, []).append(cost_s / decode_s)
            reading, read_s = seen, frame.time_s
            agreed = game_watched.see(seen, shot, after[shot.picture.name])
            if agreed is not None:
                reader.agree(agreed)
        if reading is not None:
            count_reading(tally, f"{folder.name}/{shot.name}", reading, shot.truth)
    game_watched.finish()
    return tally


class _Game:
    """The match as it hears the readings; questions are answered from the truth."""

    def __init__(self, name: str, sequence: Mapping[str, Any], tally: Tally) -> None:
        self._name, self._tally = name, tally
        entry = game("moguli")
        self._rules = entry.load_rules()
        self._match = Match(lambda name: game(name).load_rules())
        self._truth = [_turn_text(t) for t in sequence["turns"]]
        self._asked: set[int] = set()
        self._unoffered: set[int] = set()
        self._illegal: dict[int, str] = {}
        self._say("new_game", game="moguli", players=["1", "2"], options={}, start="table", id=name)

    def see(self, reading: Reading, shot: Shot, turns: int) -> Look | None:
        """Hears a reading of a frame after `turns` true turns; the look agreed on, if the reading shows it."""
        if not reading.board_found or not reading.facts or reading.troubles:
            return None
        true_look = {key: value for key, value, _ in facts_of(shot.truth)}
        self._match = step(self._match, Seen(reading, "", CAMERA)).match
        if self._match.question is not None:
            self._asked.add(turns)
            self._answer(true_look, turns)
            # The answer takes no time, and the table lies as it did.
            self._match = step(self._match, Seen(reading, "", CAMERA)).match
        judged = self._match.judgement
        if judged is not None and judged.kind == "illegal":
            self._illegal[turns] = judged.words.id
        if self._match.phase == "start_check" and self._match.check.ready:
            self._say("accept_start")
        if self._match.phase != "playing" or self._match.question is not None or self._match.doubt is not None:
            return None
        look = self._rules.look(self._match.now)
        return look if all(f.hidden or f.best == look.get(k, f.best) for k, f in reading.facts.items()) else None

    def finish(self) -> None:
        """Ends the last turn and compares the record with the true turns."""
        self._say("done")
        match, rules = self._match, self._rules
        said = [e.text for e in match.entries if e.text]
        if not match.states:
            for number, text in enumerate(self._truth, 1):
                self._count(WRONG, number, "no start", text)
            return
        state = match.states[0]
        for number, text in enumerate(self._truth, 1):
            inferred = said[number - 1] if number <= len(said) else ""
            before, state = state, _applied(rules, state, text)
            same = inferred and _applied(rules, before, inferred) == state
            asked = number in self._asked
            if number in self._illegal:
                self._count(WRONG, number, self._illegal[number], text)
            elif not same or (asked and number in self._unoffered):
                self._count(WRONG, number, inferred, text)
            else:
                self._count(ASKED if asked else RIGHT, number, inferred, text)
        for number in range(len(self._truth) + 1, len(said) + 1):
            self._count(WRONG, number, said[number - 1], "")

    def _answer(self, true_look: Look, turns: int) -> None:
        question = self._match.question
        assert question is not None
        for choice in question.choices:
            after = step(self._match, _answering(question.id, choice)).match
            if self._true(after, choice, true_look):
                self._match = after
                return
        self._unoffered.add(turns)

    def _true(self, after: Match, choice: Choice, true_look: Look) -> bool:
        if choice.kind == "illegal":
            return False
        if choice.kind in ("fact", "side"):
            return all(true_look.get(k) == v for k, v in choice.facts.items())
        return bool(after.states) and dict(self._rules.look(after.now)) == dict(true_look)

    def _count(self, outcome: str, number: int, said: str, truth: str) -> None:
        self._tally.count("turn", outcome, file=self._name, place=str(number), said=said, truth=truth, probability=0.0)

    def _say(self, command: str, **args: Any) -> None:
        self._match = step(self._match, Chose(command, PEOPLE, args)).match


def _answering(question: str, choice: Choice) -> Chose:
    return Chose("answer", PEOPLE, {"question": question, "value": choice.value})


def _applied(rules: Any, state: Any, text: str) -> Any:
    """The state after a turn; None where it is refused."""
    if state is None:
        return None
    after = rules.apply(state, rules.parse(text))
    return None if isinstance(after, Refusal) else after


def _turn_text(turn: Mapping[str, Any]) -> str:
    """The turn of a truth file in the game's notation."""
    acts = []
    for act in turn["acts"]:
        if act["act"] == "move":
            acts.append(f"M {act['from']}-{act['to']}")
        else:
            quarters = {1: "+90", 2: "+180", 3: "-90"}[int(act["quarter_turns_cw"]) % 4]
            acts.append(f"{'B' if act['act'] == 'bonus_rotate' else 'R'} {act['tile']}{quarters}")
    return ", ".join(acts) or "-"
