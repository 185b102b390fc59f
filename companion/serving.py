"""The two commands that serve a table: a simulated one that plays by itself, and a real one."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import webbrowser
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from calibration.profile import CalibrationError, TableProfile, load_board, load_profile
from companion.bulletin import Bulletin
from companion.caller import Caller
from companion.clips import FOLDER as CLIPS
from companion.clips import Clips
from companion.config import DATA, Config, ConfigError, chosen, load_config
from companion.demo import NAMES, Demo
from companion.enrolment import FOLDER as ENROLLED
from companion.enrolment import Enrolment
from companion.games.contract import Message
from companion.house import House, HouseThread
from companion.journal import FolderLock, Journal, open_journal
from companion.lab import FaultLab
from companion.process_child import keep_frame
from companion.record_book import RecordBook
from companion.recorder import Recorder
from companion.registry import GameEntry, UnknownGameError, games_with, rules_of
from companion.service import Service
from companion.words import say
from devices.faults import Fault, ScenarioError, load_scenario
from devices.house import FolderDisk
from devices.simulated.house_faults import FaultyDisk, FaultyWall
from web.server import Server


def demo(args: argparse.Namespace) -> int:
    """A simulated table, served until it is stopped or its turns are made; 1 when the program got one wrong."""
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
        service = service_of(journal, bulletin, games, clips, hints=args.hints)
        options, count = chosen(entry, args.option), _players(args.players, entry)
        used = entry.data_used(options)
        if used is not None and not used.seen:
            raise UnknownGameError(
                f"no camera knows the board {used.name!r}: {entry.name} has no simulated table for it"
            )
        playing = Demo(entry, service, bulletin, seed, speed, _scenario(args.scenario), count, options)
        disk = FaultyDisk(FolderDisk(data), playing.room.faults)
        journal.before_write = disk.before_write
        if args.record:
            recorder = _recorder(stack, args.record, service, journal)
            playing.room.on_seen = lambda frame: keep_frame(recorder.frames, frame)
        playing.room.on_tick = House(
            service, disk, data, playing.room.clock.now_s, FaultyWall(playing.room.clock, playing.room.faults)
        ).check
        endless = args.turns is None and args.games is None
        if endless or args.port is not None or args.host is not None:
            port = args.port if args.port is not None else 8000
            server = _server(service, bulletin, games, data, clips, args.host or "127.0.0.1", port)
            server.add_lab(FaultLab(playing.room.faults))
            stack.enter_context(server)
            print(f"{entry.name} plays at {server.url}{f' (phones: {server.join_url})' if server.join_url else ''}")
            print(f"seed {seed}; Ctrl-C ends it", flush=True)
            if endless and not args.no_browser:
                webbrowser.open(server.url)
        tally = playing.run(args.turns, args.games)
        if not endless:
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


def service_of(
    journal: Journal,
    bulletin: Bulletin,
    games: Mapping[str, GameEntry],
    clips: Clips | None = None,
    enrolment: Enrolment | None = None,
    *,
    hints: bool = False,
    undo: str = "chance",
) -> Service:
    """The service of a table with these games, their data and their figures."""
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
    clips: Clips,
    host: str,
    port: int,
    language: str | None = None,
) -> Server:
    """The pages of a table, its slow motion and its records."""
    offers = [entry.load_rules() for entry in games.values() if entry.has_table]
    forms = {name: form for name, entry in games.items() if (form := entry.load_form()) is not None}
    server = Server(
        bulletin, service.submit, host=host, port=port, language=language, offers=offers, data=data, forms=forms
    )
    server.add_clips(clips)
    server.add_records(RecordBook(data, rules_of, lambda name: games[name].load_sheets()))
    return server


def run(args: argparse.Namespace) -> int:
    """The service on a real table, until it is interrupted."""
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
        service = service_of(journal, bulletin, games, clips, enrolment, hints=config.hints, undo=config.undo)
        if damaged is not None:
            words = Message("companion.journal_damaged", (("file", str(damaged)),))
            print(f"companion: {say(words)}", file=sys.stderr)
            service.report(None, "journal file", words)
        server = _server(service, bulletin, games, data, clips, host, port, config.language)
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
