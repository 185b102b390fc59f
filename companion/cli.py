"""The command line: every command with its options, and the errors that it puts into words."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from calibration.profile import CalibrationError
from companion import serving, tools
from companion.config import ConfigError
from companion.games.contract import RulesError
from companion.journal import JournalError
from companion.recorder import RecordingError
from companion.records import RecordError
from companion.registry import UnknownGameError
from companion.threads import one_matrix_thread
from companion.words import LANGUAGES, WordsError, say
from devices.contract import DeviceError
from devices.faults import ScenarioError
from web.server import WebError

_KNOWN = (
    JournalError,
    UnknownGameError,
    ConfigError,
    CalibrationError,
    WebError,
    WordsError,
    RecordError,
    ScenarioError,
    RecordingError,
    DeviceError,
)
"""Errors whose message says what to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status is 0, 1 when it measured something wrong, 2 when it could not be done."""
    one_matrix_thread()
    try:
        args = _parser().parse_args(argv)
        level = logging.INFO if args.verbose else logging.WARNING
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
        return int(args.command(args))
    except _KNOWN as error:
        print(f"companion: {error}", file=sys.stderr)
        return 2
    except RulesError as error:
        print(f"companion: {say(error.refusal.message)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has enough, as in `companion export last | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"companion: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="companion", description="A referee for games on a real table.")
    parser.add_argument("-v", "--verbose", action="store_true", help="say more")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="a simulated table that plays by itself, live in the browser")
    demo.add_argument("--game", default="moguli", help="which game (default: moguli)")
    demo.add_argument("--seed", type=int, help="the same seed plays the same games")
    demo.add_argument("--data-file", type=Path, help="your own tile set, board, cards or catalogue")
    demo.add_argument("--players", type=_count, metavar="N", help="how many play (default: two, or the fewest)")
    _options(demo)
    demo.add_argument("--hints", action="store_true", help="players may ask for a hint")
    demo.add_argument("--speed", default="1", help="times real time, or max (default: 1)")
    end = demo.add_mutually_exclusive_group()
    end.add_argument("--turns", type=_count, help="end after so many turns and say how many were right")
    end.add_argument("--games", type=_count, help="end after so many games played to their end, and say the same")
    _served(demo)
    demo.add_argument("--scenario", type=Path, metavar="FILE", help="a TOML time line of faults, see docs/faults.md")
    demo.add_argument("--record", type=Path, metavar="FOLDER", help="record all inputs, for `replay-inputs`")
    demo.add_argument("--no-browser", action="store_true", help="open no browser")
    demo.set_defaults(command=serving.demo)

    run = commands.add_parser("run", help="the service on a real table")
    run.add_argument("--config", type=Path, help="a TOML file: game, camera, buttons, lights, profile, language")
    _served(run)
    run.add_argument("--record", type=Path, metavar="FOLDER", help="record all inputs, for `replay-inputs`")
    run.set_defaults(command=serving.run)

    record = commands.add_parser("record", help="the same as run --record FOLDER")
    record.add_argument("record", type=Path, metavar="FOLDER")
    record.add_argument("--config", type=Path, help="as for run")
    _served(record)
    record.set_defaults(command=serving.run)

    again = commands.add_parser("replay-inputs", help="judges a recording again and says where it comes out otherwise")
    again.add_argument("file", type=Path, metavar="FILE", help="a recording's folder or its inputs.jsonl")
    again.add_argument("--eyes", action="store_true", help="read the kept pictures anew, too")
    again.set_defaults(command=tools.replay_inputs)

    export = commands.add_parser("export", help="writes a match as JSON lines that can be replayed, or as text")
    export.add_argument("match", help="the match's id, the beginning of it, or `last`")
    export.add_argument("--text", action="store_true", help="for people: turns in the game's notation")
    export.add_argument("--language", choices=LANGUAGES, default="en", help="of the words in the text")
    export.add_argument("--output", type=_output, metavar="FILE", help="where to (default: standard output)")
    export.add_argument("--data", type=Path, help="the folder of the journal")
    export.set_defaults(command=tools.export)

    report = commands.add_parser("report", help="statistics of a match: scores, shares, and how fairly pieces fall")
    report.add_argument("match", help="the match's id, the beginning of it, or `last`")
    report.add_argument("--language", choices=LANGUAGES, default="en")
    report.add_argument("--data", type=Path, help="the folder of the journal")
    report.set_defaults(command=tools.report)

    taken = commands.add_parser("import", help="replays and verifies an exported match and keeps it in the journal")
    taken.add_argument("file", type=Path)
    taken.add_argument("--check", action="store_true", help="only verify")
    taken.add_argument("--continue", action="store_true", dest="go_on", help="go on with it at the next `run`")
    taken.add_argument("--data", type=Path, help="the folder of the journal")
    taken.set_defaults(command=tools.import_file)

    listed = commands.add_parser("devices", help="what is plugged in, and which address to write in the configuration")
    listed.add_argument("--language", choices=LANGUAGES, default="en")
    press = "ask for each button to be pressed, and find out how it is wired (default: the Pi's pins)"
    listed.add_argument("--press", nargs="?", const="gpio://", metavar="URL", help=press)
    listed.set_defaults(command=tools.devices)

    doctor = commands.add_parser("doctor", help="looks the machine over and says what is wrong and what to do")
    doctor.add_argument("--config", type=Path, help="as for run; its camera is measured")
    doctor.add_argument("--camera", help="measure this camera")
    doctor.add_argument("--language", choices=LANGUAGES, default="en")
    _served(doctor)
    doctor.set_defaults(command=tools.doctor)

    census = commands.add_parser("census", help="reads a folder of pictures with truth and counts right and wrong")
    census.add_argument("folder", type=Path)
    census.add_argument("--json", type=_output, metavar="FILE")
    census.set_defaults(command=tools.census)

    bench = commands.add_parser("bench", help="measures speed and memory on this machine")
    bench.add_argument("--json", type=_output, metavar="FILE")
    bench.add_argument("--frames", type=Path, metavar="DIR", help="pictures with truth, to be read as well")
    bench.set_defaults(command=tools.bench)

    count = commands.add_parser("perft", help="counts the positions that legal turns lead to")
    count.add_argument("game")
    count.add_argument("--depth", type=_count, default=1)
    count.add_argument("position", nargs="?", help="a position line (default: a dealt start)")
    count.add_argument("--data-file", type=Path, help="your own tile set, board, cards or catalogue")
    count.set_defaults(command=tools.perft)

    mat = commands.add_parser("mat", help="a table mat or a sheet of markers to print, as SVG in true size")
    mat.add_argument("game")
    _options(mat)
    mat.add_argument("--markers", action="store_true", help="only the markers, on A4, to cut out")
    mat.add_argument("--out", type=_output, metavar="FILE", help="write to a file (default: standard output)")
    mat.set_defaults(command=tools.mat)

    words = commands.add_parser("words", help="checks the catalogue of sentences")
    words.add_argument("check", choices=["check"])
    words.set_defaults(command=tools.words)
    return parser


def _served(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="the address to serve on (default: 127.0.0.1, this machine only)")
    parser.add_argument("--port", type=int, help="the port (default: 8000; 0 takes a free one)")
    parser.add_argument("--data", type=Path, help="the folder for the journal")


def _options(parser: argparse.ArgumentParser) -> None:
    words = "an option of the game, such as layout=square13; may be given several times"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=words)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more, not {text!r}")
    return int(text)


def _output(text: str) -> Path:
    """A file that can be written, as far as that shows before the work for it is done; raises RecordError."""
    path = Path(text)
    if path.is_dir():
        raise RecordError(f"{path} cannot be written: it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise RecordError(f"{path} cannot be written: there is no folder {path.parent}")
    return path
