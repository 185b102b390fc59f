"""Makes the pictures of the dashboard under docs/img anew: `python -m tests.web.pictures`."""

from __future__ import annotations

import random
import tempfile
import threading
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from companion.bulletin import Bulletin
from companion.demo import Demo
from companion.evidence import Author
from companion.games.contract import Rules
from companion.journal import open_journal
from companion.registry import GAMES, game
from companion.service import Service
from tests.web.browsers import launched
from web.server import Server

IMG = Path(__file__).parents[2] / "docs" / "img"
GAME = "moguli"


def rules_of(name: str) -> Rules[Any, Any]:
    return GAMES[name].load_rules()


def shoot(browser: Any, url: str, name: str, size: tuple[int, int], ready: str, scale: float, scheme: str) -> None:
    """One picture of a page once `ready` is to be seen on it."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=scale,
        color_scheme=scheme,
        locale="en-US",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(ready, timeout=120_000)
    page.wait_for_timeout(250)
    shot = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    assert shot is not None
    camera = page.locator("#camera img").bounding_box()
    if camera:
        # The camera's noise is most of the file: fewer shades of it.
        x, y, w, h = (round(camera[side] * scale) for side in ("x", "y", "width", "height"))
        shot[y : y + h, x : x + w] = cv2.medianBlur(shot[y : y + h, x : x + w], 3) // 20 * 20 + 10
    cv2.imwrite(str(IMG / f"dashboard-{name}.png"), shot, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    context.close()


def simulated_table(browser: Any) -> None:
    """A table that plays by itself, on a laptop and on a big screen."""
    bulletin = Bulletin()

    def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            journal, _ = open_journal(Path(folder))
            service = Service(rules_of, journal, bulletin, deal=lambda name, chance: GAMES[name].deal_start(chance))
            demos.append(Demo(game(GAME), service, bulletin, 7, 1.5))
            demos[0].run(30)
            journal.close()

    demos: list[Demo] = []
    thread = threading.Thread(target=play)
    thread.start()

    def no_submit(*_: Any) -> Any:
        raise NotImplementedError

    with Server(bulletin, no_submit, port=0, offers=[rules_of(GAME)]) as server:
        playing = "#record li:nth-child(6)"
        shoot(browser, server.url, "laptop", (1280, 720), playing, 1, "light")
        shoot(browser, server.url + "tv", "tv", (1280, 720), playing, 1, "dark")
    demos[0].stopped = True
    thread.join()


def by_hand(browser: Any) -> None:
    """A game without a camera on a phone: a turn that is not allowed."""
    bulletin, rules, chance = Bulletin(), rules_of(GAME), random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        journal, _ = open_journal(Path(folder))
        service = Service(
            rules_of,
            journal,
            bulletin,
            deal=lambda name, chance: GAMES[name].deal_start(chance),
            chance=random.Random(3),
        )
        me, choose = Author("seat", "pictures"), GAMES[GAME].load_choose()
        begin = {"game": GAME, "players": ["Anna", "Ben"], "options": {}, "start": "shuffle"}
        service.submit("new_game", begin, me)
        for _ in range(8):
            service.submit("declare", {"text": rules.text(choose(service.match.agreed, chance))}, me)
        look = rules.look(service.match.agreed)
        mine = str(rules.to_act(service.match.agreed).players[0] + 1)
        start = next(key for key, value in look.items() if key.startswith("pawn:") and value == mine)
        for end in (key for key, value in look.items() if key.startswith("pawn:") and value == "-"):
            service.submit("set_facts", {"facts": {start: "-", end: mine}}, me)
            if service.match.judgement is not None and service.match.judgement.kind == "illegal":
                break
            service.submit("takeback", {}, me)
        with Server(bulletin, service.submit, port=0, offers=[rules]) as server:
            shoot(browser, server.url, "phone", (390, 844), "#board g.mark.illegal", 1.5, "light")
        journal.close()


def main() -> None:
    """Makes all pictures."""
    with launched() as browser:
        by_hand(browser)
        simulated_table(browser)


if __name__ == "__main__":
    main()
