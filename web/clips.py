"""The seconds around a doubted turn: which pictures there are, and each as JPEG; for everybody who may watch."""

from __future__ import annotations

import json
from typing import Protocol

from flask import Flask, Response, abort


class Shown(Protocol):
    """Clips by name."""

    def times_s(self, clip: str) -> list[float]:
        """The times of a clip's pictures; empty while there is no such clip."""

    def picture(self, clip: str, number: int) -> bytes:
        """A picture of a clip as JPEG; empty when there is none of this number."""


def add_clips(app: Flask, clips: Shown) -> None:
    """Adds `/clip/<name>` and its pictures to a dashboard."""

    @app.get("/clip/<name>")
    def times(name: str) -> Response:
        text = json.dumps({"times_s": clips.times_s(name)})
        return Response(text, mimetype="application/json", headers={"Cache-Control": "no-store"})

    @app.get("/clip/<name>/<int:number>.jpg")
    def shot(name: str, number: int) -> Response:
        jpeg = clips.picture(name, number)
        if not jpeg:
            abort(404)
        # A clip never changes, and its player goes to and fro in it.
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=3600, immutable"})
