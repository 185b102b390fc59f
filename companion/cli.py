"""The command line: every command with its options, and those two that serve a table, demo and run."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from calibration.profile import CalibrationError, TableProfile, load_board, load_profile
from companion import tools
from companion.bulletin import Bulletin
from companion.caller import Caller
from companion.clips import FOLDER as CLIPS
from companion.clips import Clips
from companion.config import DATA, Config, ConfigError, chosen, load_config
from companion.demo import NAMES, Demo
from companion.enrolment import FOLDER as ENROLLED
from companion.enrolment import Enrolment
from companion.games.contract import Message, RulesError
from companion.house import House, HouseThread
from companion.journal import FolderLock, Journal, JournalError, open_journal
from companion.lab import FaultLab
from companion.process_child import keep_frame
from companion.record_book import RecordBook
from companion.recorder import Recorder, RecordingError
from companion.records import RecordError
from companion.registry import GameEntry, UnknownGameError, games_with, rules_of
from companion.service import Service
from companion.words import LANGUAGES, WordsError, say
from devices.contract import DeviceError
from devices.faults import Fault, ScenarioError, load_scenario
from devices.house import FolderDisk
from devices.simulated.house_faults import FaultyDisk, FaultyWall
from web.server import Server, WebError

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
    demo.add_argument("--turns", type=_count, help="end after so many turns and say how many were right")
    _served(demo)
    demo.add_argument("--scenario", type=Path, metavar="FILE", help="a TOML time line of faults, see docs/faults.md")
    demo.add_argument("--record", type=Path, metavar="FOLDER", help="record all inputs, for `replay-inputs`")
    demo.add_argument("--no-browser", action="store_true", help="open no browser")
    demo.set_defaults(command=_demo)

    run = commands.add_parser("run", help="the service on a real table")
    run.add_argument("--config", type=Path, help="a TOML file: game, camera, buttons, lights, profile, language")
    _served(run)
    run.add_argument("--record", type=Path, metavar="FOLDER", help="record all inputs, for `replay-inputs`")
    run.set_defaults(command=_run)

    record = commands.add_parser("record", help="the same as run --record FOLDER")
    record.add_argument("record", type=Path, metavar="FOLDER")
    record.add_argument("--config", type=Path, help="as for run")
    _served(record)
    record.set_defaults(command=_run)

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


def _demo(args: argparse.Namespace) -> int:
    games = games_with(args.game, args.data_file)
    entry = games[args.game]
    speed = None if args.speed == "max" else _speed(args.speed)
    seed = args.seed if args.seed is not None else time.time_ns() % 2**31
    with ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="companion-demo-")))
        lock = FolderLock(data)
        stack.callback(lock.close)
        journal, _ = open_journal(data)
        stack.callback(journal.close)
        bulletin = Bulletin()
        clips = Clips(data / CLIPS)
        service = _service(journal, bulletin, games, clips, hints=args.hints)
        options, count = chosen(entry, args.option), _players(args.players, entry)
        demo = Demo(entry, service, bulletin, seed, speed, _scenario(args.scenario), count, options)
        disk = FaultyDisk(FolderDisk(data), demo.room.faults)
        journal.before_write = disk.before_write
        if args.record:
            recorder = _recorder(stack, args.record, service, journal)
            demo.room.on_seen = lambda frame: keep_frame(recorder.frames, frame)
        demo.room.on_tick = House(
            service, disk, data, demo.room.clock.now_s, FaultyWall(demo.room.clock, demo.room.faults)
        ).check
        if args.turns is None or args.port is not None or args.host is not None:
            port = args.port if args.port is not None else 8000
            server = _server(service, bulletin, games, data, args.host or "127.0.0.1", port)
            server.add_clips(clips)
            server.add_records(_records(data, games))
            server.add_lab(FaultLab(demo.room.faults))
            stack.enter_context(server)
            print(f"{entry.name} plays at {server.url}{f' (phones: {server.join_url})' if server.join_url else ''}")
            print(f"seed {seed}; Ctrl-C ends it", flush=True)
            if args.turns is None and not args.no_browser:
                webbrowser.open(server.url)
        tally = demo.run(args.turns)
        if args.turns is not None:
            for fault in tally.faults:
                print(f"wrong: {fault}")
            print(tally.asides)
            print(tally.delays)
            print(tally.line)
        return 1 if tally.wrong else 0


def _recorder(stack: ExitStack, folder: Path, service: Service, journal: Journal) -> Recorder:
    """Records what the service hears from now on."""
    last = journal.last_match()
    recorder = Recorder(folder, (row.event for row in journal.rows(last)) if last is not None else ())
    stack.callback(recorder.close)
    service.on_input = recorder.note
    return recorder


def _scenario(file: Path | None) -> tuple[Fault, ...]:
    """The faults of a scenario for the demo, whose eyes share its process."""
    faults = load_scenario(file) if file is not None else ()
    for fault in faults:
        if fault.kind.startswith("process."):
            raise ScenarioError(f"{file}: {fault.kind}: {say(Message('faults.process'))}")
    return faults


def _service(
    journal: Journal,
    bulletin: Bulletin,
    games: Mapping[str, GameEntry],
    clips: Clips | None = None,
    enrolment: Enrolment | None = None,
    *,
    hints: bool = False,
    undo: str = "chance",
) -> Service:
    return Service(
        rules_of,
        journal,
        bulletin,
        deal=lambda name, chance: games[name].deal_start(chance),
        data=lambda name, options: _entry(games, name, enrolment).data_used(options),
        pieces=lambda name, players, seen: (
            enrolment.start(players, seen) if enrolment is not None and enrolment.game == name else {}
        ),
        hint=(lambda name: games[name].load_hint()) if hints else None,
        undo=undo,
        clips=clips,
    )


def _records(data: Path, games: Mapping[str, GameEntry]) -> RecordBook:
    return RecordBook(data, rules_of, lambda name: games[name].load_sheets())


def _entry(games: Mapping[str, GameEntry], name: str, enrolment: Enrolment | None) -> GameEntry:
    """A game with the data of the figures that are enrolled for it."""
    if enrolment is None or enrolment.game != name or enrolment.catalogue is None:
        return games[name]
    return replace(games[name], data_file=enrolment.catalogue)


def _enrolment(config: Config, games: Mapping[str, GameEntry], data: Path) -> Enrolment | None:
    """The figures of a table whose game has any; one with a data file or a folder of figures of its own has those."""
    form = games[config.game].load_figures()
    if form is None or config.data_file:
        return None
    profile = TableProfile(load_board(config.game))
    if config.profile:
        with suppress(CalibrationError):  # the table says so on its page
            profile = load_profile(Path(config.profile))
    if profile.figures:
        return None
    most = games[config.game].load_rules().max_players
    return Enrolment(data / ENROLLED, config.game, form, profile, most)


def _players(count: int | None, entry: GameEntry) -> int | None:
    """So many players, if the game is for as many; raises ConfigError that says for how many it is."""
    rules = entry.load_rules()
    most = min(rules.max_players, len(NAMES))
    if count is not None and not rules.min_players <= count <= most:
        raise ConfigError(f"--players: {entry.name} is played by {rules.min_players} to {most} here, not by {count}")
    return count


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.0 < speed < float("inf"):
        raise ConfigError(f"--speed must be a positive number or max, not {text!r}")
    return speed


def _server(
    service: Service,
    bulletin: Bulletin,
    games: Mapping[str, GameEntry],
    data: Path,
    host: str,
    port: int,
    config: Config | None = None,
) -> Server:
    language = config.language if config is not None else None
    offers = [entry.load_rules() for entry in games.values() if entry.has_table]
    forms = {name: form for name, entry in games.items() if (form := entry.load_form()) is not None}
    return Server(
        bulletin, service.submit, host=host, port=port, language=language, offers=offers, data=data, forms=forms
    )


def _run(args: argparse.Namespace) -> int:
    from companion.run import Table

    config = load_config(args.config) if args.config is not None else Config()
    games = games_with(config.game, Path(config.data_file) if config.data_file else None)
    data = args.data or DATA
    host = args.host or config.host
    port = args.port if args.port is not None else config.port
    with ExitStack() as stack:
        lock = FolderLock(data)
        stack.callback(lock.close)
        journal, damaged = open_journal(data)
        stack.callback(journal.close)
        bulletin = Bulletin()
        clips = Clips(data / CLIPS, config.clips_mb)
        enrolment = _enrolment(config, games, data)
        service = _service(journal, bulletin, games, clips, enrolment, hints=config.hints, undo=config.undo)
        if damaged is not None:
            words = Message("companion.journal_damaged", (("file", str(damaged)),))
            print(f"companion: {say(words)}", file=sys.stderr)
            service.report(None, "journal file", words)
        server = _server(service, bulletin, games, data, host, port, config)
        server.add_clips(clips)
        server.add_records(_records(data, games))
        if enrolment is not None:
            server.add_enrolment(enrolment)
        stack.enter_context(server)
        service.start()
        stack.callback(service.stop)
        house = HouseThread(House(service, FolderDisk(data), data))
        stack.callback(house.stop)
        house.start()
        if config.voice:
            caller = Caller(bulletin, service, config.language or "en", config.voice)
            stack.callback(caller.stop)
            caller.start()
        recorder = _recorder(stack, args.record, service, journal) if args.record else None
        table = Table(config, service, bulletin, data, recorder.frames if recorder else None, enrolment)
        stack.callback(table.stop)
        table.start()
        print(
            f"{config.game}: open {server.url}{f' (phones: {server.join_url})' if server.join_url else ''}", flush=True
        )
        while True:
            time.sleep(3600)
