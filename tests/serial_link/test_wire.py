"""The line protocol: what was sent whole is received, nothing else ever is."""

from __future__ import annotations

import binascii
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.firmware.wire import MAX_LINE, Inbox, Lines, Outbox, encode

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*$"), min_size=1, max_size=12)


@given(st.integers(0, 65535), st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_a_line_comes_back_however_it_is_cut(sequence: int, words: list[str], data: st.DataObject) -> None:
    line = encode(sequence, *words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(line)), max_size=5)))
    lines = Lines()
    got = [x for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True) for x in lines.feed(line[a:b])]
    assert got == [(sequence, words)]
    assert lines.damaged == 0


@given(st.integers(0, 65535), st.lists(WORDS, min_size=1, max_size=4), st.data())
def test_a_changed_byte_is_never_accepted(sequence: int, words: list[str], data: st.DataObject) -> None:
    line = bytearray(encode(sequence, *words))
    at = data.draw(st.integers(0, len(line) - 2))
    line[at] ^= data.draw(st.integers(1, 255))
    accepted = Lines().feed(bytes(line) + b"\n")
    assert accepted in ([], [(sequence, words)]), "only a lower-case digit in the checksum could mean the same"
    if accepted:
        pytest.fail(f"accepted {bytes(line)!r}")


def test_a_half_line_does_not_spoil_the_next() -> None:
    lines = Lines()
    assert lines.feed(encode(1, "BTN", "done1", "press")[:9] + encode(2, "BTN", "done2", "press")) == [
        (2, ["BTN", "done2", "press"])
    ]


def test_the_checksum_is_the_one_of_zip() -> None:
    body = b"7 DIE a settled 6 4"
    assert encode(7, "DIE", "a", "settled", "6", "4") == b"$" + body + b"*%08X\n" % binascii.crc32(body)


@pytest.mark.parametrize("word", ["", "two words", "star*", "dollar$", "new\nline", "é", "\x07"])
def test_words_that_cannot_be_carried_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        encode(1, "SAY", word)


def test_a_line_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=str(MAX_LINE)):
        encode(1, "SAY", "x" * MAX_LINE)


def test_a_hundred_thousand_fuzzed_lines() -> None:
    """Nothing raises, and only what was sent whole is accepted."""
    chance = random.Random(7)
    lines, sent, got, stream = Lines(), [], [], bytearray()
    for n in range(100_000):
        line = whole_line = encode(n, "DIE", "a", "settled", "6", str(chance.randrange(1, 7)))
        kind = chance.randrange(6)
        if kind == 0:
            at = chance.randrange(len(line))
            line = line[:at] + line[at + 1 :]
        elif kind == 1:
            line = line[: chance.randrange(len(line))]
        elif kind == 2:
            line = bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
        elif kind == 3:
            at = chance.randrange(len(line))
            line = line[:at] + bytes([line[at] ^ (1 << chance.randrange(8))]) + line[at + 1 :]
        stream += line
        if line == whole_line:
            sent.append((n % 65536, whole_line))
        got += lines.feed(line)
    whole = {(number, line) for number, line in sent}
    assert len(got) > 20_000
    for number, words in got:
        line = encode(number, *words)
        # A damaged newline or `$` may be made good by the bytes around: then the line did pass whole.
        assert (number, line) in whole or line[:-1] in stream
    assert lines.damaged > 20_000


@given(st.binary(max_size=400))
def test_any_bytes_are_survived(data: bytes) -> None:
    lines = Lines()
    lines.feed(data)
    assert lines.feed(encode(3, "PING"))[-1:] == [(3, ["PING"])]


def test_an_outbox_repeats_until_acknowledged_and_counts_what_it_refuses() -> None:
    box = Outbox(capacity=2, again_ms=100)
    assert box.oldest == 1
    assert box.put("A")
    assert box.due(0) == encode(1, "A")
    assert box.due(50) == b""
    assert box.put("B")
    assert box.due(60) == encode(2, "B")
    assert box.due(100) == encode(1, "A") + encode(2, "B")
    assert not box.put("C")
    assert box.lost == 1
    box.acknowledged(1)
    assert box.oldest == 2
    box.acknowledged(2)
    assert box.due(300) == b""
    assert box.oldest == 3


@given(st.integers(1, 65535), st.integers(1, 40))
def test_an_inbox_takes_each_line_once_and_in_order_across_the_wrap(first: int, count: int) -> None:
    inbox, numbers = Inbox(), []
    inbox.expect(first)
    for n in range(count):
        numbers.append((first - 1 + n) % 65535 + 1)
    for n in numbers:
        later = n % 65535 + 1
        assert not inbox.is_new(later)
        assert inbox.is_new(n)
        assert inbox.last == n
        assert not inbox.is_new(n)


def test_the_example_in_the_documentation_is_a_line() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serial-protocol.md").read_text(encoding="utf-8")
    example = page.split("Example: `")[1].split("`")[0]
    assert Lines().feed(example.encode() + b"\n") == [(7, ["DIE", "a", "settled", "6", "4"])]
