"""The page in real Chromium over a stand-in service: play, refusal, correction, seats, a second browser, access."""

from __future__ import annotations

import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from companion.bulletin import Act, Answer, Mark, Question
from companion.games.contract import Message
from tests.web.conftest import Opener
from tests.web.fake import FakeService, Offer, jpeg
from web.server import Server

pytestmark = pytest.mark.browser


def heard(service: FakeService, count: int = 1) -> list[Any]:
    """What the service was given, as soon as it is so much: the page hears of a press before the service does."""
    for _ in range(100):
        if len(service.given) >= count:
            break
        time.sleep(0.05)
    return service.given


def tap(page: Any, place: str) -> None:
    """Taps a tile beside its pawn."""
    page.locator(f'#board g.place[data-place="{place}"] > rect').first.click(position={"x": 6, "y": 6})


def tap_piece(page: Any, place: str) -> None:
    page.locator(f'#board g.piece[data-place="{place}"]').click()


def act(page: Any, command: str) -> None:
    page.locator(f'#acts button[data-command="{command}"]').first.click()


def pawns(page: Any) -> set[str]:
    return set(page.locator("#board g.piece").evaluate_all("all => all.map(p => p.dataset.place)"))


def test_a_turn_by_hand_is_provisional_then_final_and_seen_by_a_second_browser(
    server: Server, service: FakeService, opened: Opener
) -> None:
    page, second = opened(server.url), opened(server.url, 390, 844)
    expect(page.locator("#headline")).to_have_text("Anna: your turn")
    tap(page, "b3")
    page.get_by_role("button", name="Turn right").click()
    page.locator("#sheet").get_by_role("button", name="This is my turn").click()
    expect(page.locator("#provisional")).to_contain_text("b3")
    expect(page.locator("#board g.mark.provisional")).to_have_count(1)
    expect(second.locator("#provisional")).to_contain_text("b3")
    act(page, "done")
    for viewer in (page, second):
        expect(viewer.locator("#headline")).to_have_text("Ben: your turn")
        expect(viewer.locator("#record li")).to_have_count(1)
        expect(viewer.locator("#board g.mark.last")).to_have_count(1)
        expect(viewer.locator("#provisional")).to_be_hidden()
    assert service.record[0].text == "b3"


def test_a_pawn_is_carried_by_two_taps_and_an_illegal_turn_is_explained_and_taken_back(
    server: Server, service: FakeService, opened: Opener
) -> None:
    page = opened(server.url)
    tap_piece(page, "c1")
    expect(page.locator("#draft")).to_contain_text("c1: now tap where it goes")
    tap(page, "c4")
    expect(page.locator("#draft")).to_contain_text("c1, c4")
    expect(page.locator("#board g.mark.draft")).to_have_count(2)
    assert "c4" in pawns(page)
    page.locator("#draft").get_by_role("button", name="This is my turn").click()
    expect(page.locator("#verdict")).to_contain_text("Not allowed")
    expect(page.locator("#verdict")).to_contain_text("c4")
    expect(page.locator("#board g.mark.illegal")).to_have_count(1)
    expect(page.locator("#live")).to_contain_text("c4")
    act(page, "takeback")
    expect(page.locator("#verdict")).to_be_hidden()
    expect(page.locator("#board g.mark")).to_have_count(0)
    assert "c1" in pawns(page)
    assert heard(service)[0][1] == {"facts": {"pawn:c1": "-", "pawn:c4": "1"}}


def test_the_program_is_corrected_where_it_is_wrong(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    tap(page, "d5")
    page.locator("#kind-triangle-no").check()
    page.locator("#kind-path-NS").check()
    page.locator("#sheet").get_by_role("button", name="The program is wrong here").click()
    expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator("#board g.mark.draft")).to_have_count(0)
    command, args, _ = heard(service)[0]
    assert command == "correct"
    assert args["facts"]["path:d5"] == "NS"


def test_cancelling_leaves_everything_as_it_was(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    tap(page, "b3")
    page.get_by_role("button", name="Turn left").click()
    page.locator("#sheet").get_by_role("button", name="Cancel").click()
    expect(page.locator("#draft")).to_be_hidden()
    tap_piece(page, "a1")
    page.locator("#draft").get_by_role("button", name="Discard").click()
    expect(page.locator("#draft")).to_be_hidden()
    assert service.given == []


def test_a_question_is_answered_by_a_button(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    service.ask()
    expect(page.locator("#board g.mark.question")).to_have_count(1)
    expect(page.locator("#question button")).to_have_count(2)
    page.locator("#question button").first.click()
    expect(page.locator("#question")).to_be_hidden()
    assert heard(service)[0][:2] == ("answer", {"question": "q1", "value": "NE"})


def test_what_cannot_be_undone_is_asked_first(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    page.locator("#acts summary").click()
    page.get_by_role("button", name="Resign").click()
    page.locator("#ask").get_by_role("button", name="Cancel").click()
    assert service.given == []
    page.get_by_role("button", name="Resign").click()
    page.locator("#ask").get_by_role("button", name="Yes").click()
    page.wait_for_timeout(100)
    assert heard(service)[0][:2] == ("declare", {"text": "resign"})


def test_the_record_goes_back_and_is_corrected(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    for key in ("path:b3", "path:d4"):
        service.submit("set_facts", {"facts": {key: "SW"}}, service_author())
        service.submit("done", {}, service_author())
    expect(page.locator("#record li")).to_have_count(2)
    page.get_by_label("Change turn 1").click()
    page.get_by_role("button", name="Correct this turn").first.click()
    expect(page.locator("#ask-text")).to_have_value("b3")
    page.locator("#ask-text").fill("b3 b2")
    with page.expect_response("**/api/command"):
        page.locator("#ask").get_by_role("button", name="Yes").click()
    with page.expect_response("**/api/command"):
        page.get_by_role("button", name="Back to after this turn").first.click()
        page.locator("#ask").get_by_role("button", name="Yes").click()
    assert [g[:2] for g in heard(service, 2)[-2:]] == [
        ("correct_turn", {"number": 1, "text": "b3 b2"}),
        ("undo_to", {"number": 1}),
    ]
    page.get_by_text("Declare a turn").click()
    page.get_by_label("Turn in notation").fill("a1 90; a1-c1")
    with page.expect_response("**/api/command"):
        page.get_by_role("button", name="Declare", exact=True).click()
    assert heard(service)[-1][:2] == ("declare", {"text": "a1 90; a1-c1"})


def test_a_new_game_with_house_rules(opened: Opener) -> None:
    service = FakeService(playing=False)
    with Server(service.bulletin, service.submit, port=0, offers=[Offer()]) as server:
        page = opened(server.url)
        expect(page.locator("#board svg")).to_have_count(0)
        page.locator("#acts").get_by_role("button", name="New game").click()
        page.locator("#player-0").fill("Iris")
        page.locator("#player-1").fill("<b>Otto</b>")
        page.locator("#new-game summary").click()
        page.locator("#option-cylinder").select_option("1")
        page.locator("#start").select_option("table")
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#headline")).to_have_text("Iris: your turn")
        expect(page.locator("#players")).to_contain_text("<b>Otto</b>")
        expect(page.locator("#board g.place")).to_have_count(35)
        assert heard(service)[0][1] == {
            "game": "moguli",
            "players": ["Iris", "<b>Otto</b>"],
            "options": {"cylinder": True, "new_starting_row": False, "ability": "turn"},
            "start": "table",
        }


def test_the_start_check_asks_on_a_bare_board(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    asked = Question(
        "side", Message("table.which_side", (("player", "#0"),)), (Answer("a1", Message("web.yes")),), ("a1",)
    )
    look_again = Act("referee", Message("table.act_look_again"))
    differs = (Mark("c3", "question"),)
    service.publish(phase="start_check", view=None, question=asked, marks=differs, acts=(look_again,))
    expect(page.locator("#board g.mark.question")).to_have_count(2)
    expect(page.locator("#board g.piece")).to_have_count(0)
    page.get_by_role("button", name="Look again").click()
    page.locator("#question button").click()
    expect(page.locator("#question")).to_be_hidden()
    assert [given[0] for given in service.given] == ["referee", "answer"]


def test_seats_decide_who_may_act(server: Server, service: FakeService, opened: Opener) -> None:
    laptop, other = opened(server.url), opened(server.url)
    laptop.locator("#seats summary").click()
    laptop.get_by_role("button", name="Sit here: Anna").click()
    expect(laptop.locator("#seats")).to_contain_text("you")
    expect(other.locator("#seats")).to_contain_text("taken")
    expect(laptop.locator('#acts [data-command="done"]')).to_have_count(1)
    other.locator("#seats summary").click()
    other.get_by_role("button", name="Sit here: Ben").click()
    expect(other.locator('#acts [data-command="done"]')).to_have_count(0)
    expect(other.locator('#acts [data-command="takeback"]')).to_have_count(1)


def test_one_who_only_watches_has_no_buttons(service: FakeService, opened: Opener) -> None:
    with Server(service.bulletin, service.submit, host="0.0.0.0", port=0, offers=[Offer()]) as server:
        page = opened(server.url, extra_http_headers={"X-Forwarded-For": "203.0.113.9"})
        expect(page.locator("#seats")).to_contain_text("You are watching")
        expect(page.locator("#acts button")).to_have_count(0)
        expect(page.locator("#open-new-game")).to_be_hidden()
        expect(page.locator("#board g[role=button]")).to_have_count(0)
        expect(page.locator(".join img")).to_be_visible()


def test_the_join_code_can_be_read_from_the_screen(service: FakeService, opened: Opener) -> None:
    cv2, np = pytest.importorskip("cv2"), pytest.importorskip("numpy")
    with Server(service.bulletin, service.submit, host="0.0.0.0", port=0) as server:
        page = opened(server.url, color_scheme="dark", device_scale_factor=2)
        shot = page.locator(".join img").screenshot()
        picture = cv2.imdecode(np.frombuffer(shot, np.uint8), cv2.IMREAD_COLOR)
        assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == server.join_url


def test_the_board_is_played_with_the_keyboard_alone(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    expect(page.locator("#board g[role=button]")).to_have_count(35)
    page.locator("#board g[tabindex='0']").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.dataset.place")
    assert focused == "d3"
    page.keyboard.press("Enter")
    page.locator("#turn-right").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "turn-right"
    page.locator('#sheet [data-send="set_facts"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator("#provisional")).to_contain_text("d3")
    assert page.evaluate("document.activeElement.dataset.place") == "d3", "the focus stays on the place"


def test_the_board_is_there_in_words(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    service.ask()
    page.get_by_text("Board as text").click()
    rows = page.locator("#board-text tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first).to_contain_text("pawn of the second player")
    expect(page.locator("#board-text")).to_contain_text("(asked about)")


def test_a_lost_table_is_said_and_found_again(service: FakeService, opened: Opener) -> None:
    server = Server(service.bulletin, service.submit, port=0)
    server.start()
    page = opened(server.url)
    expect(page.locator("#stale")).to_be_hidden()
    server.stop()
    expect(page.locator("#stale")).to_be_visible()
    service.submit("set_facts", {"facts": {"path:b3": "SW"}}, service_author())
    service.submit("done", {}, service_author())
    with Server(service.bulletin, service.submit, port=server.port):
        expect(page.locator("#stale")).to_be_hidden()
        expect(page.locator("#headline")).to_have_text("Ben: your turn")


def test_the_camera_picture_comes_and_changes(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    expect(page.locator("#camera")).to_be_hidden()
    for number in (1, 2):
        with page.expect_response("**/picture.jpg*") as got:
            service.bulletin.publish_picture(jpeg(80 * number))
        assert got.value.body() == jpeg(80 * number)
    expect(page.locator("#camera img")).to_be_visible()


def test_troubles_and_devices_are_said(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url)
    service.trouble()
    expect(page.locator("#troubles li")).to_have_count(1)
    expect(page.locator("#devices li")).to_contain_text(["Camera"])


def test_another_language_is_chosen_and_kept(server: Server, opened: Opener) -> None:
    page = opened(server.url)
    page.locator("#language").select_option("de")
    page.wait_for_selector("html[lang=de]")
    expect(page.locator("#open-new-game")).to_have_text("Neues Spiel")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_the_big_screen_has_no_controls(server: Server, service: FakeService, opened: Opener) -> None:
    page = opened(server.url + "tv", 1920, 1080)
    service.ask()
    expect(page.locator("#question")).to_be_visible()
    expect(page.locator("#board g.mark.question")).to_have_count(1)
    assert page.locator("button, input, select, summary").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@pytest.mark.parametrize(("width", "height"), [(360, 740), (390, 844), (820, 1180), (1366, 768), (1920, 1080)])
def test_nothing_sticks_out(server: Server, opened: Opener, width: int, height: int) -> None:
    page = opened(server.url, width, height)
    page.wait_for_selector("#board svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#board svg").bounding_box()
    assert box is not None
    assert box["height"] <= height
    assert box["width"] >= 0.33 * min(width, height)


@pytest.mark.parametrize("path", ["nowhere", "people"])
def test_on_a_phone_a_page_beside_the_table_has_the_way_back(server: Server, opened: Opener, path: str) -> None:
    page = opened(f"{server.url}{path}", 360, 740)
    back = page.locator('header a[href="/"]')
    expect(back).to_be_visible()
    box = back.bounding_box()
    assert box is not None and box["x"] + box["width"] <= 360
    back.click()
    page.wait_for_selector("#board svg")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(server: Server, service: FakeService, opened: Opener, scheme: str) -> None:
    service.bulletin.publish_picture(jpeg(90))
    service.submit("set_facts", {"facts": {"path:b3": "SW"}}, service_author())
    service.submit("done", {}, service_author())
    page = opened(server.url, color_scheme=scheme)

    def check(at: Any, what: str) -> None:
        results = Axe().run(at)
        assert results.violations_count == 0, f"{what}: {results.generate_report()}"

    page.wait_for_selector("#record .what")
    for node in page.locator("main details > summary").all():
        node.click()
    check(page, "playing")
    service.submit("set_facts", {"facts": {"pawn:c1": "-", "pawn:c4": "1"}}, service_author())
    expect(page.locator("#verdict")).to_be_visible()
    check(page, "refused")
    service.ask()
    service.trouble()
    expect(page.locator("#troubles")).to_be_visible()
    check(page, "asked")
    tap(page, "b3")
    check(page, "sheet")
    page.locator("#sheet").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="New game").click()
    page.locator("#ask").get_by_role("button", name="Yes").click()
    check(page, "new game")
    check(opened(server.url, 390, 844, color_scheme=scheme), "phone")
    check(opened(server.url + "tv", 1920, 1080, color_scheme=scheme), "big screen")


def service_author() -> Any:
    from companion.evidence import Author

    return Author("seat", "test")


SPOKEN = """
window.spoken = [];
window.SpeechSynthesisUtterance = function (text) { this.text = text; };
Object.defineProperty(window, "speechSynthesis", { value: {
  cancel() {}, speak(words) { window.spoken.push([words.lang, words.text]); } } });
"""


def test_what_is_announced_is_spoken_once_somebody_has_asked_for_it(server: Server, opened: Opener) -> None:
    page = opened(server.url)
    page.add_init_script(SPOKEN)
    page.reload()
    button = page.get_by_role("button", name="Speak")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#headline")).to_have_text("Anna: your turn")
    tap(page, "b3")
    page.get_by_role("button", name="Turn right").click()
    page.locator("#sheet").get_by_role("button", name="This is my turn").click()
    expect(page.locator("#provisional")).to_contain_text("b3")
    assert page.evaluate("window.spoken") == []
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    act(page, "done")
    expect(page.locator("#headline")).to_have_text("Ben: your turn")
    page.wait_for_function("window.spoken.length === 2")
    (language, first), (_, second) = page.evaluate("window.spoken")
    assert (language, first) == ("en", "I say aloud what happens.")
    assert second == page.locator("#live").text_content()
