"""The commands that serve no table: what is there, what was played, what is measured, what is printed.

Each takes the parsed arguments and gives the exit status: 0, or 1 when something is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from calibration.mat import marker_sheet_svg, mat_svg
from calibration.profile import TableProfile
from companion.bench.perft import divided
from companion.bench.perft import perft as counted
from companion.config import DATA, Config, chosen, load_config
from companion.doctor import examine, this_machine
from companion.fold import fold
from companion.games.contract import Message
from companion.inventory import devices as plugged_in
from companion.inventory import press_each
from companion.journal import FILE, FolderLock, Journal, open_journal
from companion.recorder import SHOWN, replay
from companion.records import RecordError, find, lines, read, take_over, text
from companion.registry import GAMES, game, games_with, rules_of
from companion.words import LANGUAGES, catalogue, placeholders, say
from devices.camera import open_camera
from devices.serial_port import candidate_ports
from vision.contract import Reader

_SIGNS = {"well": "ok", "note": "- ", "ill": "!!"}


def devices(args: argparse.Namespace) -> int:
    """What is plugged in, a line each; or which button is wired how."""
    if args.press is not None:
        return press_each(args.press, lambda words: print(say(words, args.language), flush=True), print)

    count = 0
    for item in plugged_in(this_machine(), candidate_ports()):
        count += item.ok
        print(f"{'  ' if item.ok else '! '}{item.url or '-':42} {say(item.words, args.language)}", flush=True)
    return 0 if count else 1


def doctor(args: argparse.Namespace) -> int:
    """What is wrong with the machine, and what to do."""
    config = load_config(args.config) if args.config is not None else Config()
    host, port = args.host or config.host, args.port if args.port is not None else config.port
    ill = 0
    for found in examine(this_machine(), args.data or DATA, host, port, args.camera or config.camera, open_camera):
        ill += found.grade == "ill"
        print(f"{_SIGNS[found.grade]} {say(found.words, args.language)}", flush=True)
    print(say(Message("doctor.some_ill", (("count", ill),)) if ill else Message("doctor.all_well"), args.language))
    return 1 if ill else 0


def export(args: argparse.Namespace) -> int:
    """A match as text or as lines of JSON."""
    rows = find(_journal(args.data or DATA), args.match)
    written = text(rows, rules_of, args.language) if args.text else "".join(lines(rows, rules_of))
    if args.output is None:
        sys.stdout.write(written)
        return 0
    args.output.write_text(written, encoding="utf-8")
    return 0


def import_file(args: argparse.Namespace) -> int:
    """Verifies a match from a file and takes it over."""
    try:
        source = args.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{args.file} cannot be read: {error}") from error
    try:
        record = read(source, rules_of, lambda name, options: GAMES[name].data_used(options))
    except RecordError as error:
        raise RecordError(f"{args.file}, {error}") from error
    print(f"{record.match.id}: {record.match.game}, {record.match.turns} turns, all of them verified")
    if args.check:
        return 0
    data = args.data or DATA
    with ExitStack() as stack:
        stack.callback(FolderLock(data).close)
        journal, _ = open_journal(data)
        stack.callback(journal.close)
        if not take_over(journal, record, args.file.name, args.go_on):
            print("the journal holds this match already")
    return 0


def _journal(folder: Path) -> Journal:
    """The journal of a data folder, to be read while a service may be writing to it."""
    if not (folder / FILE).exists():
        raise RecordError(f"there is no journal in {folder}; name the folder with --data DIR")
    return Journal(folder / FILE)


def report(args: argparse.Namespace) -> int:
    """Statistics of a match."""
    match = fold((row.event for row in find(_journal(args.data or DATA), args.match)), rules_of)
    told = game(match.game).load_report()
    turns = [(n, match.rules.parse(e.text)) for n, e in enumerate(match.entries) if e.text and not e.refused]
    for line in told((match.states[n], turn, match.states[n + 1]) for n, turn in turns):
        print(say(line, args.language, match.setup.players))
    return 0


def replay_inputs(args: argparse.Namespace) -> int:
    """What a recording comes to when it is judged again."""
    found = replay(args.file, rules_of, _eyes if args.eyes else None)
    for difference in found.differences[:SHOWN]:
        print(difference)
    print(f"inputs {found.inputs} turns {found.turns} differences {len(found.differences)}")
    return 1 if found.differences else 0


def _eyes(name: str, options: Mapping[str, str | int | bool], profile: TableProfile | None) -> Reader:
    entry = game(name)
    return entry.load_reader()(profile or TableProfile(entry.load_board(options)))


def perft(args: argparse.Namespace) -> int:
    """Counts positions by depth."""
    entry = games_with(args.game, args.data_file)[args.game]
    for depth, count, seconds in counted(entry, args.depth, args.position):
        print(f"depth {depth}: {count} positions in {seconds:.2f} s", flush=True)
    for turn, count in divided(entry, args.depth, args.position):
        print(f"{turn or '-'}: {count}", flush=True)
    return 0


def mat(args: argparse.Namespace) -> int:
    """Draws a board's mat or its markers."""
    entry = game(args.game)
    board = entry.load_board(chosen(entry, args.option))
    svg = marker_sheet_svg(board) if args.markers else mat_svg(board)
    if args.out is None:
        print(svg)
    else:
        args.out.write_text(svg, encoding="utf-8")
        print(f"print {args.out} at 100 % and measure its line of 100 mm", file=sys.stderr)
    return 0


def words(args: argparse.Namespace) -> int:
    """Compares the catalogues of all languages."""
    faults = []
    english = catalogue("en")
    for lang in LANGUAGES:
        known = catalogue(lang)
        for message_id, template in known.items():
            if message_id not in english:
                faults.append(f"{lang}: {message_id} does not exist in English")
            elif placeholders(template) != placeholders(english[message_id]):
                faults.append(f"{lang}: {message_id} takes other values than in English")
        print(f"{lang}: {len(known)} of {len(english)} sentences")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def census(args: argparse.Namespace) -> int:
    """Reads pictures with truth and counts what was right."""
    from companion.census import main as read_pictures

    return read_pictures(args.folder, args.json)


def bench(args: argparse.Namespace) -> int:
    """Measures speed and memory."""
    from companion.bench import main as measure

    return measure(args.json, args.frames)
