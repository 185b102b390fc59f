"""A stand-in for the service: a Moguli table with no rules but one, enough to exercise every part of the page."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np

from companion.bulletin import Act, Answer, Bulletin, Device, Mark, Question, Snapshot, Trouble, TurnLine
from companion.commands import Reply
from companion.evidence import Author
from companion.games.contract import Json, Message, Option
from web.boards import moguli


@dataclass(frozen=True)
class Offer:
    """A game for the new-game form."""

    name: str = "moguli"
    min_players: int = 2
    max_players: int = 2

    def options(self) -> tuple[Option, ...]:
        return (
            Option("cylinder", (False, True), False),
            Option("new_starting_row", (False, True), False),
            Option("ability", ("turn", "position"), "turn"),
        )


def start_view() -> dict[str, Json]:
    """A table at the start: bends everywhere, five pawns a side."""
    tiles, paths = {}, ("NE", "ES", "SW", "NW")
    for i, row in enumerate(range(1, 8)):
        for j, column in enumerate("abcde"):
            path, triangle = paths[(i * 3 + j * j + j) % 4], (i * 5 + j) % 2 == 0
            tiles[f"{column}{row}"] = {"path": path, "triangle": triangle}
    pawns = {f"{c}1": 1 for c in "abcde"} | {f"{c}7": 2 for c in "abcde"}
    return {"tiles": tiles, "pawns": pawns, "locked": [], "to_move": 1, "obliged": False, "cylinder": False}


def jpeg(shade: int) -> bytes:
    """A small camera picture."""
    picture = np.full((90, 160, 3), shade, np.uint8)
    return bytes(cv2.imencode(".jpg", picture)[1])


class FakeService:
    """Obeys commands at once. Its only rule: a pawn may not stand on row 4 (so that a test can break it)."""

    def __init__(self, playing: bool = True) -> None:
        self.bulletin = Bulletin()
        self.given: list[tuple[str, Mapping[str, Json], Author]] = []
        self._lock = threading.RLock()
        self.number = 0
        self.snap = Snapshot(number=0)
        if playing:
            self.begin(("Anna", "Ben"))

    def begin(self, players: tuple[str, ...], options: Mapping[str, str | int | bool] | None = None) -> None:
        view = start_view()
        view["cylinder"] = bool((options or {}).get("cylinder", False))
        self.agreed, self.mover, self.record = view, 0, []
        self.history: list[Json] = []
        self.publish(
            Snapshot(
                number=0,
                game="moguli",
                match_id=f"m{self.number}",
                phase="playing",
                players=players,
                options=options or {"cylinder": False},
                manual=True,
                view=view,
                agreed_view=view,
                devices=(Device("Camera", "sim://table", True, Message("say", (("text", "640 × 480, 12 a second"),))),),
            )
        )

    def publish(self, snap: Snapshot | None = None, **changes: object) -> None:
        """Shows this, or the same with changes."""
        with self._lock:
            self.number += 1
            base = snap or self.snap
            over = base.phase == "over"
            to_act = () if over else (self.mover,)
            acts = (
                ()
                if over
                else (
                    Act("done", Message("web_test.done"), player=self.mover),
                    Act("takeback", Message("web_test.takeback")),
                    Act("pause", Message("web_test.pause")),
                    Act("declare", Message("game.resign"), {"text": "resign"}, player=self.mover, confirm=True),
                    Act("declare", Message("game.offer_draw"), {"text": "draw"}, player=self.mover),
                )
            )
            headline = Message("game.to_move", (("player", f"#{self.mover}"),))
            values = {
                "number": self.number,
                "to_act": to_act,
                "acts": acts,
                "headline": headline,
                "record": tuple(self.record),
                **changes,
            }
            self.snap = replace(base, **values)  # type: ignore[arg-type]
            self.bulletin.publish({None: self.snap})

    def submit(self, command: str, args: Mapping[str, Json], author: Author) -> Reply:
        with self._lock:
            self.given.append((command, args, author))
            handler = getattr(self, f"on_{command}", None)
            return handler(args) if handler else Reply(True)

    def on_new_game(self, args: Mapping[str, Json]) -> Reply:
        self.begin(tuple(args["players"]), args.get("options"))
        return Reply(True)

    def on_set_facts(self, args: Mapping[str, Json]) -> Reply:
        view = moguli.edited(self.snap.view, args["facts"])
        places = sorted({key.split(":")[1] for key in args["facts"]})
        bad = [p for p in places if p[1] == "4" and p in view["pawns"]]
        if bad:
            verdict = Message("web_test.row_four", (("place", bad[0]),))
            self.publish(
                view=view,
                signal="illegal",
                verdict=verdict,
                provisional=None,
                marks=tuple(Mark(p, "illegal") for p in bad),
            )
            return Reply(True)
        text = " ".join(places)
        line = TurnLine(len(self.record) + 1, self.mover, text, Message("web_test.turn", (("places", text),)))
        self.publish(
            view=view,
            signal="accepted",
            verdict=None,
            provisional=line,
            marks=tuple(Mark(p, "provisional") for p in places),
        )
        return Reply(True)

    def on_correct(self, args: Mapping[str, Json]) -> Reply:
        self.agreed = moguli.edited(self.agreed, args["facts"])
        self.publish(view=self.agreed, agreed_view=self.agreed, signal="off", verdict=None, provisional=None, marks=())
        return Reply(True)

    def on_takeback(self, args: Mapping[str, Json]) -> Reply:
        if self.snap.view == self.agreed and not self.record:
            return Reply(False, Message("web_test.nothing"))
        if self.snap.view == self.agreed:
            self.agreed = self.history.pop()
            self.record.pop()
            self.mover = 1 - self.mover
        view = {**self.agreed, "to_move": self.mover + 1}
        self.publish(view=view, agreed_view=view, signal="off", verdict=None, provisional=None, marks=())
        return Reply(True)

    def on_done(self, args: Mapping[str, Json]) -> Reply:
        line = self.snap.provisional
        if line is None:
            return Reply(False, Message("web_test.nothing"))
        self.record.append(line)
        self.history.append(self.agreed)
        self.mover = 1 - self.mover
        self.agreed = {**self.snap.view, "to_move": self.mover + 1}
        self.publish(
            view=self.agreed,
            agreed_view=self.agreed,
            provisional=None,
            signal="accepted",
            marks=tuple(Mark(p, "last") for p in line.text.split()),
        )
        return Reply(True)

    def ask(self) -> None:
        """Opens a question about a place."""
        question = Question(
            "q1",
            Message("web_test.which", (("place", "c3"),)),
            (Answer("NE", Message("web.moguli.path.NE")), Answer("SW", Message("web.moguli.path.SW"))),
            ("c3",),
        )
        self.publish(question=question, signal="question", verdict=None, marks=(Mark("c3", "question"),))

    def on_answer(self, args: Mapping[str, Json]) -> Reply:
        self.publish(question=None, signal="accepted", marks=())
        return Reply(True)

    def trouble(self) -> None:
        """Something is wrong with the camera."""
        self.publish(troubles=(Trouble("camera", Message("web_test.no_camera"), 0.0),))
