"""Buttons that chatter, stick, spark, are wired the wrong way or find their pin taken: said, survived, found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion.buttons import ButtonsThread
from companion.games.contract import Message
from companion.inventory import press_each
from companion.words import LANGUAGES, catalogue
from devices.clock import SYSTEM_CLOCK
from devices.contract import BadAddressError, Condition
from devices.gpio import load_pins, open_buttons
from devices.gpio_buttons import GpioButtons
from devices.simulated.buttons import FAULTS, SimulatedButtons
from devices.wiring import Wiring, load_wiring
from tests.devices.fakes import HandClock
from tests.devices.test_contract import until

SAID_S, GONE_S = 2.0, 3.0
WIRES = load_wiring()["buttons"]
AT_START = ("inverted", "busy_pin")


class Watched:
    """The driver on simulated buttons, read every tenth of a second."""

    def __init__(self, fault: str = "") -> None:
        self.clock = HandClock()
        self.fingers = SimulatedButtons(WIRES, self.clock)
        if fault:
            self.fingers.fault(fault, "done1")
        self.buttons: GpioButtons = open_buttons("gpio-mock://", self.clock, self.fingers.factory)
        self.presses: list[str] = []
        self.said: list[tuple[float, str]] = []

    def watch(self, seconds: float) -> None:
        end_s = self.clock.now_s() + seconds
        while self.clock.now_s() < end_s:
            press = self.buttons.read(0.1)
            if press is not None:
                self.presses.append(press.button)
            for name, condition in self.conditions.items():
                if not condition.ok:
                    assert name == "done1"
                    self.said.append((self.clock.now_s(), condition.message))

    @property
    def conditions(self) -> dict[str, Condition]:
        return self.buttons.conditions()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_said_in_two_seconds_and_gone_three_after_its_end(fault: str) -> None:
    watched = Watched(fault if fault in AT_START else "")
    began_s = watched.clock.now_s()
    if fault not in AT_START:
        watched.watch(0.5)
        assert watched.said == []
        began_s = watched.clock.now_s()
        watched.fingers.fault(fault, "done1")
    watched.watch(SAID_S)
    assert {message for _, message in watched.said} == {FAULTS[fault]}
    assert watched.said[0][0] - began_s <= SAID_S
    watched.fingers.press("done2")
    watched.watch(0.2)
    assert watched.presses[-1] == "done2", "the others go on"
    watched.fingers.mend(fault, "done1")
    watched.watch(GONE_S)
    assert all(c.ok for c in watched.conditions.values()), watched.conditions
    before = len(watched.presses)
    watched.fingers.press("done1")
    watched.watch(0.3)
    assert watched.presses[before:] == ["done1"]
    watched.buttons.close()


@pytest.mark.parametrize(("fault", "presses"), [("bounce", 1), ("ghost", 0), ("stuck", 1)])
def test_a_fault_makes_no_press_of_its_own(fault: str, presses: int) -> None:
    watched = Watched()
    watched.fingers.fault(fault, "done1")
    watched.watch(4.0)
    watched.fingers.mend(fault, "done1")
    watched.watch(1.0)
    assert watched.presses == ["done1"] * presses
    watched.buttons.close()


@pytest.mark.parametrize("message", sorted(FAULTS.values()))
def test_every_fault_says_what_to_do_in_every_language(message: str) -> None:
    for language in LANGUAGES:
        assert message in catalogue(language)
        assert sum(catalogue(language)[message].count(sign) for sign in ".;:") >= 2, "what is wrong, and what to do"


class Listener:
    """What a service does with buttons, noted down."""

    def __init__(self) -> None:
        self.troubles: dict[str, str] = {}
        self.commands: list[str] = []

    def submit(self, command: str, args: object, author: object) -> None:
        self.commands.append(command)

    def report(self, device: object, name: str, trouble: Message | None) -> None:
        self.troubles[name] = trouble.id if trouble else ""

    def has_buttons(self, there: bool) -> None: ...


def test_the_screens_say_which_button_is_ill_while_it_is() -> None:
    service, fingers = Listener(), SimulatedButtons(WIRES, SYSTEM_CLOCK)
    fingers.fault("busy_pin", "referee")
    opener: Callable[[str], GpioButtons] = lambda url: open_buttons(url, factory=fingers.factory)  # noqa: E731
    thread = ButtonsThread(service, "gpio-mock://", opener)  # type: ignore[arg-type]
    thread.start()
    until(lambda: service.troubles.get("button referee") == "devices.button_bad_pin")
    assert service.troubles["button done1"] == ""
    fingers.press("takeback")
    until(lambda: service.commands == ["takeback"])
    fingers.fault("ghost", "done1")
    until(lambda: service.troubles["button done1"] == "devices.button_ghost")
    fingers.mend("busy_pin", "referee")
    until(lambda: not any(service.troubles.values()))
    thread.stop()


# --- how each button is wired ----------------------------------------------------------------------------------


class Session:
    """`companion devices --press` at simulated buttons that really are wired so; a finger presses what is asked for."""

    def __init__(self, real: dict[str, Wiring], skip: str = "", map_file: Path | None = None) -> None:
        self.clock = HandClock()
        self.fingers = SimulatedButtons(real, self.clock)
        self.said: list[Message] = []
        self.lines: list[str] = []
        self.skip = skip
        self.asked: str = ""
        clock = FingerClock(self.clock, self.finger())
        url = f"gpio-mock://{map_file or ''}"
        self.status = press_each(url, self.tell, self.lines.append, (self.fingers.factory, clock))

    def tell(self, words: Message) -> None:
        self.said.append(words)
        if words.id == "devices.press_ask":
            self.asked = str(dict(words.values)["button"])

    def finger(self) -> Iterator[None]:
        """Presses for a tenth of a second, a second after it was asked, again after every three seconds."""
        for tick in range(10**9):
            if self.asked and self.asked != self.skip and tick % 1500 in (500, 550):
                self.fingers.set(self.asked, tick % 1500 == 500)
            yield

    @property
    def found(self) -> dict[str, str]:
        return {
            str(dict(w.values)["button"]): w.id for w in self.said if w.id.startswith("devices.press_") and w.values
        } | {str(dict(w.values)["button"]): w.id for w in self.said if w.id == "devices.button_bad_pin"}


class FingerClock:
    """A clock on which a finger acts while time passes."""

    def __init__(self, clock: HandClock, finger: Iterator[None]) -> None:
        self._clock, self._finger = clock, finger

    def now_s(self) -> float:
        return self._clock.now_s()

    def sleep_s(self, seconds: float) -> None:
        self._clock.sleep_s(seconds)
        next(self._finger)


def test_buttons_wired_as_the_map_says() -> None:
    session = Session(dict(WIRES))
    assert session.status == 0 and session.lines == []
    assert set(session.found.values()) == {"devices.press_right"}


def test_inverted_swapped_and_supply_wiring_is_found_and_the_map_that_it_needs_works(tmp_path: Path) -> None:
    real = {
        "done1": Wiring(WIRES["done1"].pin, opens=True),
        "done2": Wiring(WIRES["takeback"].pin),
        "takeback": Wiring(WIRES["done2"].pin, to_supply=True),
        "referee": Wiring(WIRES["referee"].pin, to_supply=True, opens=True),
    }
    session = Session(real)
    assert session.status == 0
    assert session.found == dict.fromkeys(real, "devices.press_other")
    hows = {str(dict(w.values)["button"]): dict(w.values)["how"] for w in session.said if w.id == "devices.press_other"}
    assert hows == {
        "done1": "@devices.press_ground_opens",
        "done2": "@devices.press_ground",
        "takeback": "@devices.press_supply",
        "referee": "@devices.press_supply_opens",
    }
    map_file = tmp_path / "pins.toml"
    map_file.write_text("\n".join(session.lines))
    assert load_wiring(map_file) == {"buttons": real, "lights": load_wiring()["lights"]}
    clock = HandClock()
    fingers = SimulatedButtons(real, clock)
    buttons = open_buttons(f"gpio-mock://{map_file}", clock, fingers.factory)
    pressed = []
    for name in real:
        fingers.press(name)
        press = buttons.read(0.5)
        pressed.append(press.button if press else None)
        assert buttons.read(1.5) is None
    assert pressed == list(real)
    assert all(c.ok for c in buttons.conditions().values())
    buttons.close()


def test_a_button_that_is_not_felt_or_has_no_pin_is_named(tmp_path: Path) -> None:
    session = Session(dict(WIRES), skip="takeback")
    assert session.status == 1
    assert session.found["takeback"] == "devices.press_nothing"
    assert {n for n, m in session.found.items() if m == "devices.press_right"} == {"done1", "done2", "referee"}
    both = {"done1": Wiring(17), "done2": Wiring(17)}
    map_file = tmp_path / "pins.toml"
    map_file.write_text("[buttons]\ndone1 = 17\ndone2 = 27\n")
    session = Session(both, map_file=map_file)
    assert session.found == {"done1": "devices.press_right", "done2": "devices.press_same"} and session.status == 1


@pytest.mark.parametrize("entry", ["{ opens = true }", '{ pin = 17, colour = "red" }', '"seventeen"', "[17]"])
def test_a_pin_map_that_cannot_be_understood_is_refused(tmp_path: Path, entry: str) -> None:
    map_file = tmp_path / "pins.toml"
    map_file.write_text(f"[buttons]\ndone1 = {entry}\n")
    with pytest.raises(BadAddressError, match="pin map"):
        open_buttons(f"gpio-mock://{map_file}")


def test_pin_numbers_alone_are_still_a_map() -> None:
    assert load_pins()["buttons"] == {name: wire.pin for name, wire in WIRES.items()}
