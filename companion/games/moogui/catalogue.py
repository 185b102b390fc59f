"""The catalogue: which models of figures there are, with the power of every face. Data, checked before it is used.

A TOML file has one table a model (its id) with `name`, `kind`, `continent`, `powers` (0 on the shield face), `shield`
and `attack` (face numbers, where it has them), `faces` (one enrolled picture a face, if any), `provenance`, and
`provenance_of` for single keys that come from elsewhere. A user's file adds models, or gives single keys of a known
one. The canonical JSON form is a list of objects with `id`, and null in `powers` on the shield face.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from companion.games.contract import DataUsed, Json, Message, Refusal, RulesError

KINDS = ("moogui", "orzag", "sentinel")
PROVENANCE = ("rulebook", "source", "inferred", "invented", "owner")
FACES = 6
ID = re.compile(r"[a-z0-9_]{1,40}\Z")
"""What a model's or a piece's id looks like; it stands in the notation."""
_KEYS = ("name", "kind", "continent", "powers", "shield", "attack", "faces")
_HIGHEST = 9999


@dataclass(frozen=True, slots=True)
class Model:
    """One kind of figure. `powers` by face 1, 2, ...; None on the shield face. `shield`, `attack`: face numbers.
    `faces`: names of the enrolled pictures by face, or empty. `provenance_of`: keys that come from elsewhere."""

    id: str
    name: str
    kind: str
    continent: str
    powers: tuple[int | None, ...]
    shield: int | None = None
    attack: int | None = None
    provenance: str = "owner"
    faces: tuple[str, ...] = ()
    provenance_of: tuple[tuple[str, str], ...] = ()

    @property
    def character(self) -> bool:
        """True for a Moogui or an ORZAG, False for a Sentinel."""
        return self.kind != "sentinel"

    @property
    def readings(self) -> tuple[str, ...]:
        """Every sure way in which it can come to rest: its faces, immune, out."""
        return (*(str(n) for n in range(1, len(self.powers) + 1)), "immune", "out")

    def power(self, reading: str) -> int | None:
        """The power of a reading; None for the shield face, immune, out, unsure. R-1: the attack is its number."""
        return self.powers[int(reading) - 1] if reading.isdigit() else None

    def shielded(self, reading: str) -> bool:
        """True when the shield face is up."""
        return self.shield is not None and reading == str(self.shield)

    @property
    def strength(self) -> tuple[int, int]:
        """Highest single power and sum of powers: what R-9 orders by."""
        known = [power for power in self.powers if power is not None]
        return max(known), sum(known)


def load(path: Path | None = None) -> tuple[Model, ...]:
    """The made-up catalogue, with the user's TOML file over it key by key; raises RulesError on nonsense."""
    tables = {model: dict(table) for model, table in _shipped().items()}
    if path is not None:
        try:
            user = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise _error("moogui.catalogue_unreadable", file=path.name, error=str(error)) from error
        for model, table in user.items():
            if not isinstance(table, Mapping):
                raise _error("moogui.catalogue_type", where=model, got=repr(table))
            tables[model] = _over(tables.get(model), table)
    return from_data([_plain(model, table) for model, table in tables.items()])


def _over(shipped: Mapping[str, Any] | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """A user's table over the shipped one: its keys count as the owner's where it does not say otherwise."""
    if shipped is None:
        return {"provenance": "owner", **own}
    keys = [key for key in own if key not in ("provenance", "provenance_of")]
    marks = own.get("provenance_of", {})
    mark = own.get("provenance", "owner")
    known = {**dict.fromkeys(keys, mark), **marks} if isinstance(marks, Mapping) else marks
    return {**shipped, **own, "provenance": shipped["provenance"], "provenance_of": known}


def digest(models: tuple[Model, ...]) -> str:
    """SHA-256 of the values (not of where they come from) in hexadecimal: which catalogue a match was played with."""
    bare = [{k: v for k, v in m.items() if not k.startswith("provenance")} for m in to_data(models)]
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()


def used(path: Path | None, options: Mapping[str, str | int | bool]) -> DataUsed:
    """The made-up catalogue, with the user's file over it."""
    models = load(path)
    marks = {model.id: model.provenance for model in models}
    marks |= {f"{model.id}.{key}": mark for model in models for key, mark in model.provenance_of}
    name = "default" if path is None else path.stem
    return DataUsed(name, digest(models), marks, {} if path is None else {"catalogue": to_data(models)})


@cache
def default() -> tuple[Model, ...]:
    """The catalogue that ships with the companion; all of it is made up."""
    return load()


def from_data(data: Json) -> tuple[Model, ...]:
    """The models of the canonical list; raises RulesError with the first fault, its place and what was wanted."""
    if not isinstance(data, list):
        raise _error("moogui.catalogue_type", where="catalogue", got=repr(data)[:60])
    models: list[Model] = []
    for number, item in enumerate(data, 1):
        for fault in faults(item, number):
            raise RulesError(fault, f"catalogue: {fault.rule} {dict(fault.values)}")
        if any(model.id == item["id"] for model in models):
            raise _error("moogui.catalogue_twice", where=item["id"])
        models.append(
            Model(
                id=item["id"],
                name=item["name"],
                kind=item["kind"],
                continent=item["continent"],
                powers=tuple(item["powers"]),
                shield=item.get("shield"),
                attack=item.get("attack"),
                provenance=item.get("provenance", "owner"),
                faces=tuple(item.get("faces", ())),
                provenance_of=tuple(sorted(item.get("provenance_of", {}).items())),
            )
        )
    return tuple(models)


def to_data(models: tuple[Model, ...]) -> list[dict[str, Json]]:
    """The canonical list."""
    return [
        {
            "id": model.id,
            "name": model.name,
            "kind": model.kind,
            "continent": model.continent,
            "powers": list(model.powers),
            "shield": model.shield,
            "attack": model.attack,
            "provenance": model.provenance,
            "faces": list(model.faces),
            **({"provenance_of": dict(model.provenance_of)} if model.provenance_of else {}),
        }
        for model in models
    ]


def faults(item: Any, number: int) -> Iterator[Refusal]:
    """Everything that is wrong with one model in canonical form."""
    if not isinstance(item, Mapping):
        yield _fault("moogui.catalogue_type", where=f"model {number}", got=repr(item)[:60])
        return
    where = str(item.get("id", f"model {number}"))
    if not isinstance(item.get("id"), str) or not ID.match(item["id"]):
        yield _fault("moogui.catalogue_id", got=where)
        return
    for key in item:
        if key not in (*_KEYS, "id", "provenance", "provenance_of"):
            yield _fault("moogui.catalogue_unknown", where=f"{where}.{key}")
    for key in ("name", "kind", "continent", "powers"):
        if key not in item:
            yield _fault("moogui.catalogue_missing", where=f"{where}.{key}")
            return
    for key in ("name", "continent"):
        if not isinstance(item[key], str) or not item[key].strip():
            yield _fault("moogui.catalogue_type", where=f"{where}.{key}", got=repr(item[key]))
    if item["kind"] not in KINDS:
        yield _fault("moogui.catalogue_kind", where=where, got=str(item["kind"]))
        return
    if item.get("provenance", "owner") not in PROVENANCE:
        yield _fault("moogui.catalogue_provenance", where=where, got=str(item["provenance"]))
    marks = item.get("provenance_of", {})
    if not isinstance(marks, Mapping) or not marks.keys() <= set(_KEYS):
        yield _fault("moogui.catalogue_type", where=f"{where}.provenance_of", got=repr(marks))
        return
    for key, mark in marks.items():
        if mark not in PROVENANCE:
            yield _fault("moogui.catalogue_provenance", where=f"{where}.{key}", got=str(mark))
    yield from _face_faults(where, item)


def warnings(model: Model) -> tuple[Message, ...]:
    """What is unusual about a model but allowed for an enrolled figure: another count of faces."""
    if len(model.powers) == FACES:
        return ()
    return (Message("moogui.catalogue_faces", (("where", model.name), ("got", len(model.powers)), ("wanted", FACES))),)


def _face_faults(where: str, item: Mapping[str, Any]) -> Iterator[Refusal]:
    powers, kind = item["powers"], item["kind"]
    if not isinstance(powers, list) or not 2 <= len(powers) <= 20:
        yield _fault("moogui.catalogue_type", where=f"{where}.powers", got=repr(powers))
        return
    pictures = item.get("faces", [])
    if not isinstance(pictures, list) or not all(isinstance(p, str) and p for p in pictures):
        yield _fault("moogui.catalogue_type", where=f"{where}.faces", got=repr(pictures))
    elif pictures and len(pictures) != len(powers):
        yield _fault("moogui.catalogue_pictures", where=where, got=len(pictures), faces=len(powers))
    shield, attack = item.get("shield"), item.get("attack")
    for key, face in (("shield", shield), ("attack", attack)):
        if face is not None and not _whole(face, 1, len(powers)):
            yield _fault("moogui.catalogue_face", where=f"{where}.{key}", got=str(face), faces=len(powers))
            return
    if (shield is not None) != (kind != "sentinel"):
        yield _fault("moogui.catalogue_shield", where=where, kind=f"@moogui.kind_{kind}")
    if (attack is not None) != (kind == "moogui"):
        yield _fault("moogui.catalogue_attack", where=where, kind=f"@moogui.kind_{kind}")
    if shield is not None and shield == attack:
        yield _fault("moogui.catalogue_both", where=where, got=shield)
    for face, power in enumerate(powers, 1):
        if face == shield and power is not None:
            yield _fault("moogui.catalogue_shield_power", where=f"{where}, {face}", got=str(power))
        if face != shield and not _whole(power, 1, _HIGHEST):
            yield _fault("moogui.catalogue_power", where=f"{where}, {face}", got=str(power), high=_HIGHEST)


def _plain(model: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """A TOML table in canonical form: null instead of 0 on the shield face."""
    powers, shield = table.get("powers"), table.get("shield", 0)
    if isinstance(powers, list) and _whole(shield, 1, len(powers)) and powers[shield - 1] == 0:
        powers = [None if face == shield else power for face, power in enumerate(powers, 1)]
    return {"id": model, **table, **({"powers": powers} if powers is not None else {})}


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "catalogue.toml").read_text(encoding="utf-8"))


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _fault(rule: str, **values: str | int) -> Refusal:
    return Refusal(rule, values=tuple(values.items()))


def _error(rule: str, **values: str | int) -> RulesError:
    return RulesError(_fault(rule, **values), f"catalogue: {rule} {values}")
