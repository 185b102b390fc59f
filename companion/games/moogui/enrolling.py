"""What must be told of an enrolled figure: kind, continent, the power of each face, where shield and attack are."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.contract import Json, Message, Refusal
from companion.games.data_form import Part, Row
from companion.games.moogui import catalogue

CONTINENTS = ("north", "east", "south", "west")
_NONE = "0"
_FACES = tuple((str(n), Message("moogui.form_face", (("face", n),))) for n in range(1, catalogue.FACES + 1))
_FACE = Part(choices=((_NONE, Message("moogui.form_none")), *_FACES))
_ROWS = (
    Row("kind", Message("moogui.form_kind"), (Part(tuple((k, Message(f"moogui.kind_{k}")) for k in catalogue.KINDS)),)),
    Row(
        "continent",
        Message("moogui.form_continent"),
        (Part(tuple((c, Message(f"moogui.continent_{c}")) for c in CONTINENTS)),),
    ),
    Row("powers", Message("moogui.form_powers"), tuple(Part(high=9999, words=words) for _, words in _FACES)),
    Row("shield", Message("moogui.form_shield"), (_FACE,)),
    Row("attack", Message("moogui.form_attack"), (_FACE,)),
)


class MooguiFigures:
    """Moogui's questions; see `companion.games.figure_form.FigureForm`."""

    faces = catalogue.FACES
    rows = _ROWS

    def table(self, figure: str, name: str, values: Mapping[str, tuple[str, ...]]) -> dict[str, Json] | Refusal:
        """The figure as a table of the catalogue; 0 stands on the shield face."""
        powers = [int(text) if text.isdecimal() else -1 for text in values["powers"]]
        table: dict[str, Json] = {"name": name, "kind": values["kind"][0], "continent": values["continent"][0]}
        for key in ("shield", "attack"):
            if values[key][0] != _NONE:
                table[key] = int(values[key][0]) if values[key][0].isdecimal() else -1
        shield = table.get("shield", 0)
        if 1 <= shield <= len(powers):
            powers[shield - 1] = 0
        table["powers"] = powers
        told = [None if n == shield else power for n, power in enumerate(powers, 1)]
        fault = next(catalogue.faults({"id": figure, **table, "powers": told}, 1), None)
        return fault or {"provenance": "owner", **table}

    def states(self, table: Mapping[str, Json]) -> tuple[str, ...]:
        """The shield's face, and powers."""
        return tuple("shield" if n == table.get("shield") else "power" for n in range(1, self.faces + 1))

    def character(self, table: Mapping[str, Json]) -> bool:
        """All but Sentinels."""
        return bool(table["kind"] != "sentinel")

    def start(self, models: Mapping[str, str], owners: Mapping[str, int]) -> Mapping[str, Json]:
        """Whose pieces there are."""
        return {"model_of": dict(models), "owners": dict(owners)}


FORM = MooguiFigures()
"""The form of the registry."""
