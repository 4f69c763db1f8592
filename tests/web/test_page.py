"""The page in a real browser, against the real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page_probes import BEYOND, DROPPED_FILE, FAINT_TEXT, LAYOUT_SHIFT, NODE_PLACES

from importers.samples import ARCS, VERTICES
from ncirl.attack_graphs.guarded.guarded import Guarded
from web.samples import as_bytes, policy_file
from web.test_web_controls import guarded
from web.test_web_import import ODD
from web.test_whole_graphs import crowd

pytest.importorskip("fastapi", reason="the page needs fastapi and uvicorn: pip install 'ncirl[web]'")
pytest.importorskip("uvicorn", reason="the page needs fastapi and uvicorn: pip install 'ncirl[web]'")
sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested with `pip install playwright`")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

STATIC = Path(str(files("ncirl.web") / "static"))
OFFICE = (files("ncirl.games") / "data" / "office.yaml").read_text()
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")
WEIGHT = 1_000_000  # bytes
CONTRAST = 4.5  # of text, as accessibility guidelines ask
SHIFT = 0.1  # of the layout; less is called good
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 800}
TABS = ("look", "solve", "play", "compare")
SOON = 240_000.0  # milliseconds: patience for a busy machine, yet less than a test has, so that a failure says where
SERVE = """
from ncirl.web.limits import Limits
from ncirl.web.server import bound, server_on
with bound("127.0.0.1", 0) as listening:
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    server_on("127.0.0.1", [], Limits(opening=600.0, comparing=600.0, patience=60.0)).run(sockets=[listening])
"""  # the page as `ncirl serve` has it, with the patience of a busy machine

ADMINS = "S-1-5-21-883232822-274137685-4173207997-512"
INTENT = "take_over_the_whole_northern_subsidiary_and_stay_there_for_a_long_time"
LONG = json.dumps(
    {
        "format": "ncirl-attack-graph/2",
        "name": "long",
        "discount": 0.9,
        "conditions": [
            {"id": "c1", "initial": True, "label": "the very long name of the place where it all begins"},
            {"id": ADMINS, "label": "DOMAIN ADMINS OF THE NORTHERN SUBSIDIARY@CORP.EXAMPLE.ORG"},
        ],
        "exploits": [
            {
                "id": f"GenericAll S-1-5-21-883232822-274137685-4173207997-1105 > {ADMINS}",
                "label": "use the right over the domain admins",
                "from": ["c1"],
                "to": ADMINS,
                "success": 0.5,
                "attack_cost": 0.02,
                "block_cost": 0.05,
            }
        ],
        "intents": [{"id": INTENT, "prior": 1.0, "rewards": {ADMINS: 1.0}}],
    }
)
NAMELESS = re.compile(r"- (?:button|textbox|combobox|radio|checkbox|spinbutton|tab|img)\s*(?:\[.*\])?:?$", re.MULTILINE)

chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
needs_browser = pytest.mark.skipif(
    chromium is None, reason="no chromium found: the page is not tested; on Debian: apt-get install chromium"
)
expect = sync_api.expect
expect.set_options(timeout=SOON)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-c", SERVE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            said = re.search(r"http://[^\s/]+", server.stdout.readline())
            assert said, "the server did not say where it is"
            yield said[0]
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page without memory that must not complain: no script fails, no rule of its policy is broken."""
    with browser.new_context(viewport=DESK, color_scheme="light", reduced_motion="reduce", base_url=address) as context:
        context.set_default_timeout(SOON)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        yield page
        assert [said for said in complaints if "Failed to load resource" not in said] == []


def open_page(page: Page, fragment: str = "") -> None:
    """Go to the page and wait until the first example is solved and shown."""
    page.goto("about:blank")  # a change after the # alone would not load anything
    page.goto(f"/{fragment}")
    expect(page.locator("#guarantee tbody td.number").first).to_have_text(re.compile(r"\d"))


@needs_browser
def test_what_is_assumed_is_said_and_bounds_are_rounded_outwards(page: Page) -> None:
    open_page(page)
    expect(page.locator("#assumed")).to_contain_text("Perfect sight")
    expect(page.locator("#assumed")).to_contain_text("Unit: expected loss")
    numbers = [1.50730975, 0.00012341, -0.0001, 0.875, 0, 1.24e-11, 1.26e-11]
    written = page.evaluate(
        "async (xs) => { const dom = await import('/static/dom.js');"
        " return [xs.map(dom.atLeast), xs.map(dom.atMost)]; }",
        numbers,
    )
    assert written[0] == ["1.507", "0.000123", "−0.000100", "0.875", "0", "1.2e−11", "1.2e−11"]
    assert written[1] == ["1.508", "0.000124", "−0.000100", "0.875", "0", "1.3e−11", "1.3e−11"]


def steps_made(page: Page) -> int:
    return page.locator("#log li").count()


def make_step(page: Page) -> None:
    made = steps_made(page)
    page.locator("#step").click()
    expect(page.locator("#log li")).to_have_count(made + 1)


def exploit(page: Page, name: str) -> Locator:
    return page.get_by_role("checkbox", name=name)


def upload(page: Page, name: str, content: str) -> None:
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content.encode()})


def node_places(page: Page) -> dict[str, dict[str, float]]:
    """Where the conditions and exploits are drawn, within the window."""
    expect(page.locator("#graph")).to_have_attribute("aria-busy", "false")
    places: dict[str, dict[str, float]] = page.evaluate(NODE_PLACES)
    return places


def test_the_page_and_what_it_is_made_with_weigh_little() -> None:
    assert sum(file.stat().st_size for file in STATIC.rglob("*") if file.is_file()) < WEIGHT


def test_nothing_on_the_page_needs_an_exception_to_its_policy() -> None:
    html = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|https?://", html)


@needs_browser
class TestLook:
    def test_the_graph_is_drawn_in_layers_from_left_to_right(self, page: Page) -> None:
        open_page(page)
        places = node_places(page)
        for earlier, later in (
            ("c:internet", "e:exploit web app"),
            ("e:exploit web app", "c:web-server"),
            ("c:domain-controller", "e:reach backups"),
        ):
            assert places[earlier]["x"] < places[later]["x"]
        expect(page.locator("#graph")).to_have_attribute("aria-label", re.compile("Fallen: internet"))

    def test_belief_value_guarantee_and_odds_are_told(self, page: Page) -> None:
        open_page(page)
        bars = page.locator("#panel-look .belief .number").all_inner_texts()
        assert bars == ["25%"] * 4
        expect(page.locator("#value")).to_contain_text(re.compile(r"between \d\.\d+ and \d\.\d+"))
        assert len(page.locator("#guarantee tbody td.number").all_inner_texts()) == 4
        page.locator("#listing summary").click()
        cells = page.locator("#exploits tr[data-exploit='phish a password'] td")
        for cell in (cells.nth(0), cells.nth(1)):
            expect(cell).to_have_text(re.compile(r"^[<>]?\d+%$"))  # the play comes after its contest

    def test_what_matters_is_seen_with_long_names_and_labels_stand_for_ids_that_say_nothing(self, page: Page) -> None:
        open_page(page)
        upload(page, "long.json", LONG)
        expect(page.locator("#title")).to_have_text("long")
        page.locator("#tab-solve").click()
        page.locator("#time-limit").fill("5")
        page.locator("#solve").click()
        expect(page.locator("#job")).to_have_text("Done.")
        page.locator("#keep").click()
        expect(page.locator("#guarantee tbody td.number")).to_have_text(re.compile(r"\d"))
        node_places(page)
        texts = page.evaluate("document.getElementById('graph')._cyreg.cy.nodes().map((node) => node.data('text'))")
        said = "".join(texts).replace("\u200b", "")
        assert "DOMAIN ADMINS" in said
        assert "S-1-5" not in said
        assert "use the right" in said
        page.locator("#listing summary").click()
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            for table, name in (("#guarantee", "at most"), ("#exploits", "▣ blocked")):
                head = page.locator(f"{table} thead th", has_text=name).bounding_box()
                room = page.locator(".scroll", has=page.locator(table)).bounding_box()
                assert head
                assert room
                assert head["x"] + head["width"] <= room["x"] + room["width"] + 1

    def test_a_game_without_a_graph_shows_the_defenders_mix(self, page: Page) -> None:
        open_page(page)
        page.locator("#contest").select_option(label="patrol")
        expect(page.locator("#title")).to_have_text("patrol")
        expect(page.locator("#no-graph .belief").first).to_be_visible()
        expect(page.locator("#graph")).to_be_hidden()

    def test_rubbish_is_refused_in_a_sentence_and_changes_nothing(self, page: Page) -> None:
        open_page(page)
        for k, rubbish in enumerate(("conditions: [", "\x00\x01\x02", '{"format": "ncirl-game/1"}')):
            upload(page, f"rubbish-{k}.yaml", rubbish)
            expect(page.locator("#notice")).to_be_visible()
            expect(page.locator("#notice p")).to_contain_text(f"rubbish-{k}.yaml")
            expect(page.locator("#title")).to_have_text("office")
            page.keyboard.press("Escape")
            expect(page.locator("#notice")).to_be_hidden()

    def test_a_dropped_file_is_opened_and_its_names_stay_text(self, page: Page) -> None:
        open_page(page)
        named = OFFICE.replace("name: office", 'name: "<b>dropped</b>"')
        transfer = page.evaluate_handle(DROPPED_FILE, named)
        page.dispatch_event("body", "drop", {"dataTransfer": transfer})
        expect(page.locator("#title")).to_have_text("<b>dropped</b>")
        expect(page.locator("#value")).to_contain_text("Not solved yet")

    def test_files_of_another_tool_are_imported_and_chosen_for(self, page: Page) -> None:
        page.set_viewport_size(PHONE)
        open_page(page)
        pair = {"VERTICES.CSV": VERTICES, "ARCS.CSV": ARCS}
        page.locator("#file").set_input_files(
            [{"name": name, "mimeType": "text/csv", "buffer": text.encode()} for name, text in pair.items()]
        )
        dialog = page.get_by_role("dialog", name="Import")
        expect(dialog).to_contain_text("guessed as a goal")
        assert page.evaluate(BEYOND, PHONE["width"]) == []
        assert page.evaluate(FAINT_TEXT, CONTRAST) == []
        expect(dialog.get_by_role("checkbox", name="execCode(db,root)")).to_be_checked()
        dialog.get_by_role("checkbox", name="execCode(db,root)").uncheck()
        wanted = dialog.get_by_role("group", name="What attackers may want").get_by_role("textbox")
        wanted.fill("nowhere")
        dialog.get_by_role("button", name="Import again").click()
        expect(dialog).to_contain_text("goal 'nowhere': no condition is called so")
        wanted.fill("execCode(web,www)")
        dialog.get_by_role("button", name="Import again").click()
        expect(dialog).to_contain_text("one per goal given")
        dialog.get_by_role("button", name="Look at it").click()
        expect(page.locator("#guarantee tbody th")).to_have_text("execCode_web_www")
        page.reload()
        page.get_by_role("button", name="How it was imported…").click()
        expect(dialog).to_contain_text("one per goal given")
        expect(dialog).to_contain_text("open the files again")

    def test_a_refused_import_offers_what_can_be_chosen_and_nothing_else(self, page: Page) -> None:
        page.set_viewport_size(PHONE)
        open_page(page)
        dialog, groups = page.get_by_role("dialog", name="Import"), page.locator("#import-form fieldset:visible")
        upload(page, "lab.jsonl", ODD.decode())
        expect(groups.locator("legend")).to_have_text(["Which kinds of edges are steps"])
        dialog.get_by_role("checkbox", name="OddRight").check()
        dialog.get_by_role("button", name="Import again").click()
        expect(groups.locator("legend")).to_have_text(
            [
                "Which kinds of edges are steps",
                "Where attackers begin, beyond what the files say",
                "What attackers may want",
            ]
        )
        expect(dialog.get_by_role("checkbox", name="OddRight")).to_be_checked()
        assert "--" not in dialog.inner_text()
        assert page.evaluate(BEYOND, PHONE["width"]) == []
        assert page.evaluate(FAINT_TEXT, CONTRAST) == []
        dialog.get_by_role("checkbox", name="ANN@LAB").check()
        dialog.get_by_role("checkbox", name="ADMINS@LAB").check()
        dialog.get_by_role("button", name="Import again").click()
        expect(dialog).to_contain_text("one per goal given")
        assert "--" not in dialog.inner_text()
        dialog.get_by_role("button", name="Look at it").click()
        expect(page.locator("#guarantee tbody th")).to_have_text("ADMINS@LAB")
        upload(page, "lab.json", '{"directed": true, "nodes": [], "links": []}')
        expect(page.locator("#notice")).to_contain_text("lab.json")
        expect(dialog).to_be_hidden()

    def test_what_is_opened_is_remembered_here_and_known_nowhere_else(self, page: Page, browser: Browser) -> None:
        open_page(page)
        upload(page, "mine.yaml", OFFICE.replace("name: office", "name: mine"))
        expect(page.locator("#title")).to_have_text("mine")
        page.locator("#contest").select_option(label="patrol")
        expect(page.locator("#title")).to_have_text("patrol")
        page.reload()
        page.locator("#contest").select_option(label="mine (not solved)")
        expect(page.locator("#title")).to_have_text("mine")
        with browser.new_context() as elsewhere:
            other = elsewhere.new_page()
            other.goto(page.url.partition("#")[0])
            expect(other.locator("#title")).to_have_text("office")
            assert "mine" not in other.locator("#contest").inner_text()
            other.goto("about:blank")
            other.goto(page.url)  # whoever has the address has the contest
            expect(other.locator("#title")).to_have_text("mine")

    def test_what_the_server_has_not_any_more_is_forgotten(self, page: Page) -> None:
        open_page(page)
        page.evaluate("localStorage.setItem('contests', JSON.stringify([{ id: 'gone', title: 'gone', solved: true }]))")
        page.reload()
        page.locator("#contest").select_option(label="gone")
        expect(page.locator("#notice p")).to_contain_text("gone")
        expect(page.locator("#title")).to_have_text("office")
        expect(page.locator("#contest option", has_text="gone")).to_have_count(0)


@needs_browser
class TestSolve:
    def test_an_upload_is_solved_kept_and_downloaded(self, page: Page) -> None:
        open_page(page)
        upload(page, "mine.yaml", OFFICE.replace("name: office", "name: mine"))
        page.get_by_role("button", name="Solve it").click()
        page.locator("#gap").fill("5")
        page.locator("#solve").click()
        expect(page.locator("#job")).to_have_text("Done.")
        expect(page.locator("#bounds-chart polyline.line")).to_have_count(2)
        lower, upper = (float(page.locator(f"#job-{side}").inner_text()) for side in ("lower", "upper"))
        assert lower <= upper
        with page.expect_download() as download:
            page.locator("#download").click()
        assert download.value.suggested_filename.endswith(".ncirl")
        page.locator("#keep").click()
        expect(page.locator("#panel-look")).to_be_visible()
        expect(page.locator("#value")).to_contain_text("between")

    @pytest.mark.slow
    def test_a_solve_outlives_a_reload_and_keeps_what_it_has_when_stopped(self, page: Page) -> None:
        open_page(page, "#solve")
        page.locator("#gap").fill("0.01")
        page.locator("#time-limit").fill("120")
        page.locator("#solve").click()
        expect(page.locator("#job-upper")).to_have_text(re.compile(r"\d"))
        page.reload()
        expect(page.locator("#job")).to_have_text("Solving…")
        expect(page.locator("#job-upper")).to_have_text(re.compile(r"\d"))
        page.locator("#cancel").click()
        expect(page.locator("#job")).to_have_text("Stopped; what it had is kept.")
        expect(page.locator("#keep")).to_be_enabled()

    def test_a_full_queue_is_said_where_one_looks(self, page: Page) -> None:
        said = "8 solves are waiting already; try again in a minute"
        answer = {"error": {"message": said}}
        open_page(page, "#solve")
        page.route("**/solve", lambda route: route.fulfill(status=429, json=answer))
        page.locator("#solve").click()
        expect(page.locator("#job")).to_have_text(said)
        expect(page.locator("#solve")).to_be_enabled()


@needs_browser
class TestPlay:
    def test_an_attack_is_ticked_made_and_undone(self, page: Page) -> None:
        open_page(page, "#play")
        page.locator("#intent").select_option("fraud")
        exploit(page, "exploit web app").check()
        expect(page.locator("#plan")).to_have_text("You try exploit web app.")
        make_step(page)
        expect(page.locator("#log li").first).to_contain_text("tried exploit web app")
        expect(page.locator("#where")).to_contain_text("After 1 stage")
        page.locator("#undo").click()
        expect(page.locator("#log li")).to_have_count(0)
        expect(page.locator("#where")).to_have_text("At the start")
        expect(page.locator("#undo")).to_be_disabled()

    def test_an_exploit_is_ticked_in_the_graph(self, page: Page) -> None:
        open_page(page, "#play")
        expect(exploit(page, "phish a password")).to_be_enabled()  # the play comes after its contest
        place = node_places(page)["e:phish a password"]
        page.mouse.click(place["x"], place["y"])
        expect(exploit(page, "phish a password")).to_be_checked()

    def test_a_link_restores_the_game_after_a_reload_and_elsewhere(self, page: Page, browser: Browser) -> None:
        open_page(page, "#play")
        page.locator("#intent").select_option("espionage")
        page.locator("#seed").fill("7")
        page.locator("#new-game").click()
        exploit(page, "phish a password").check()
        make_step(page)
        make_step(page)
        story, beliefs = page.locator("#log").inner_text(), page.locator("#panel-play .beliefs").inner_text()
        page.reload()
        expect(page.locator("#log li")).to_have_count(2)
        assert page.locator("#log").inner_text() == story
        with browser.new_context() as elsewhere:
            other = elsewhere.new_page()
            other.goto(page.url)
            expect(other.locator("#log li")).to_have_count(2)
            assert other.locator("#log").inner_text() == story
            assert other.locator("#panel-play .beliefs").inner_text() == beliefs
            expect(other.locator("#intent")).to_have_value("espionage")

    @pytest.mark.parametrize("fragment", ["#play?contest=gone", "#play?role=attacker&moves=[[%22teleport%22]]"])
    def test_a_link_that_does_not_fit_is_explained(self, page: Page, fragment: str) -> None:
        open_page(page, fragment)
        expect(page.locator("#notice p")).to_contain_text("link")
        expect(page.locator("#title")).to_have_text("office")

    def test_autoplay_runs_until_stopped_and_the_end_tells_what_it_was_worth(self, page: Page) -> None:
        open_page(page, "#play?role=watch&seed=3")
        page.locator("#autoplay").click()
        expect(page.locator("#log li")).to_have_count(2)
        page.locator("#autoplay").click()
        expect(page.locator("#autoplay")).to_have_attribute("aria-pressed", "false")
        while page.locator("#step").is_enabled():
            make_step(page)
        rows = page.locator("#summary tr").all_inner_texts()
        assert len(rows) == 3
        assert all(re.search(r"\d\.\d{3}", row) for row in rows)
        expect(page.locator("#belief-chart polyline.line")).to_have_count(4)
        page.locator("#undo").click()
        expect(page.locator("#summary")).to_have_count(0)
        expect(page.locator("#step")).to_be_enabled()

    def test_a_defender_blocks_without_being_told_the_intent(self, page: Page) -> None:
        open_page(page, "#play")
        page.get_by_label("defending").check()
        expect(page.locator("#turn-title")).to_have_text("Stage 1: what do you block?")
        exploit(page, "phish a password").check()
        make_step(page)
        expect(page.locator("#log li").first).to_contain_text("blocked phish a password")
        expect(page.locator("#intent")).to_have_value("")
        assert not re.search(r"intent=", page.url)

    def test_a_game_in_tables_is_played_from_a_list(self, page: Page) -> None:
        open_page(page)
        page.locator("#contest").select_option(label="patrol")
        page.keyboard.press("Escape")
        page.locator("#tab-play").click()
        expect(page.locator("#step")).to_be_disabled()
        page.locator("#choices input[type=radio]").first.check()
        make_step(page)


@needs_browser
class TestWholeGraphs:
    def test_what_matters_is_shown_searched_and_told(self, page: Page) -> None:
        open_page(page)
        content = {"name": "whole.ncirl", "mimeType": "application/zip", "buffer": policy_file("whole")}
        page.locator("#file").set_input_files(content)
        expect(page.locator("#title")).to_have_text("whole")
        expect(page.locator("#value")).to_contain_text("On the whole graph")
        expect(page.locator("#watch-said")).to_contain_text("and no others")
        page.locator("#search-text").fill("escal")
        expect(page.locator("#found li").first).to_contain_text("escalate")
        page.locator("#tab-play").click()
        page.keyboard.press("Escape")
        page.get_by_label("telling what happened").check()
        expect(page.locator("#turn-title")).to_have_text("Stage 1: what happened?")
        page.get_by_label("tried: inject").check()
        page.get_by_label("blocked: inject").uncheck()
        page.get_by_label("worked: inject").check()
        make_step(page)
        expect(page.locator("#log li").first).to_contain_text("fell: files")
        expect(page.locator("#plan")).to_contain_text("Advice: block")
        expect(page.get_by_label("tried: escalate")).to_be_visible()
        page.reload()
        expect(page.locator("#log li")).to_have_count(1)
        assert page.evaluate(FAINT_TEXT, CONTRAST) == []

    def test_after_a_short_solve_the_bounds_are_doubted_and_nothing_has_its_reason(self, page: Page) -> None:
        open_page(page)
        short = as_bytes(Guarded(relative_gap=0.99, time_limit=0.05).run(crowd()), "short.ncirl")
        page.locator("#file").set_input_files({"name": "short.ncirl", "mimeType": "application/zip", "buffer": short})
        expect(page.locator("#title")).to_have_text("crowd")
        expect(page.locator("#doubt")).to_contain_text("The bounds lie far apart")
        assert "c:out" in node_places(page)  # where it begins
        page.locator("#tab-play").click()
        page.get_by_label("defending").check()
        expect(page.locator("#plan")).to_contain_text("Advice: block nothing. Nothing")
        expect(page.locator("#sure")).to_contain_text(re.compile(r"at most \d\S* on average, none less than \d"))
        expect(page.locator("#sure")).to_contain_text("The bounds lie far apart")

    def test_the_defence_of_a_whole_graph_is_compared_against_attackers(self, page: Page) -> None:
        open_page(page)
        content = {"name": "whole.ncirl", "mimeType": "application/zip", "buffer": policy_file("whole")}
        page.locator("#file").set_input_files(content)
        expect(page.locator("#title")).to_have_text("whole")
        page.locator("#tab-compare").click()
        expect(page.locator("#opponents")).to_be_hidden()
        expect(page.locator("#compare-status")).to_contain_text("here its own defence meets four attackers. Promised")
        page.locator("#episodes").fill("40")
        page.locator("#compare").click()
        expect(page.locator("#compare-status")).to_have_text("Done: 40 plays.")
        rows = page.locator("#compare-table tbody th")
        expect(rows).to_have_text(["lifted", "random", "adaptive", "informed"])
        expect(page.locator("#compare-chart polyline.line")).to_have_count(4)


@needs_browser
class TestIncidents:
    def test_a_solve_begins_where_a_box_was_clicked(self, page: Page) -> None:
        open_page(page)
        place = node_places(page)["c:mail"]
        page.mouse.click(place["x"], place["y"])
        page.locator("#tab-solve").click()
        expect(page.locator("#held li")).to_contain_text("mail")
        page.locator("#held-name").fill("workstation")
        page.locator("#held-name").press("Enter")
        expect(page.locator("#held-said")).to_contain_text("where mail and workstation hold beside the start")
        assert page.evaluate(FAINT_TEXT, CONTRAST) == []
        page.locator("#gap").fill("20")
        page.locator("#solve").click()
        expect(page.locator("#job")).to_have_text("Done.")
        page.locator("#keep").click()
        expect(page.locator("#from")).to_have_text("From: mail + workstation, held already.")
        expect(page.locator("#held li")).to_have_count(0)

    def test_controls_of_a_whole_graph_are_applied_and_told(self, page: Page) -> None:
        open_page(page)
        content = {"name": "shop.ncirl", "mimeType": "application/zip", "buffer": as_bytes(guarded(), "shop.ncirl")}
        page.locator("#file").set_input_files(content)
        expect(page.locator("#title")).to_have_text("shop")
        expect(page.locator("#watch-said")).to_contain_text("of 2, and no others")
        page.locator("#tab-play").click()
        page.get_by_label("defending").check()
        expect(page.locator("#turn-title")).to_have_text("Stage 1: what do you apply?")
        exploit(page, "patch").check()
        make_step(page)
        expect(page.locator("#log li").first).to_contain_text("applied patch")
        page.get_by_label("telling what happened").check()
        page.get_by_label("tried: inject").check()
        page.get_by_label("applied: patch").check()
        make_step(page)
        expect(page.locator("#where")).to_contain_text("in place: patch")
        expect(page.locator("#plan")).to_contain_text("Advice: apply")


@needs_browser
@pytest.mark.slow
class TestCompare:
    def test_four_curves_fill_in_and_the_certified_defender_concedes_least(self, page: Page) -> None:
        open_page(page, "#compare")
        page.locator("#episodes").fill("60")
        page.locator("#compare").click()
        expect(page.locator("#compare-status")).to_have_text("Done: 60 plays.")
        expect(page.locator("#compare-chart polyline.line")).to_have_count(4)
        rows = [row.split("\t") for row in page.locator("#compare-table tbody tr").all_inner_texts()]
        means = {name.strip(): float(mean) for name, mean, _ in rows}
        assert min(means, key=lambda name: means[name]) == "n-cirl"

    def test_a_comparison_can_be_stopped(self, page: Page) -> None:
        open_page(page, "#compare")
        page.locator("#episodes").fill("2000")
        page.locator("#compare").click()
        expect(page.locator("#compare-chart polyline.line")).to_have_count(4)
        page.locator("#compare-stop").click()
        expect(page.locator("#compare-status")).to_contain_text("Stopped after")
        expect(page.locator("#compare")).to_be_enabled()


@needs_browser
class TestEverywhere:
    def test_a_phone_shows_it_without_scrolling_sideways(self, page: Page) -> None:
        page.set_viewport_size(PHONE)
        open_page(page, "#look?role=watch&steps=2")
        for tab in TABS:
            page.locator(f"#tab-{tab}").click()
            expect(page.locator(f"#panel-{tab}")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
            assert page.evaluate(BEYOND, PHONE["width"]) == []

    def test_the_layers_run_downwards_on_a_phone(self, page: Page) -> None:
        page.set_viewport_size(PHONE)
        open_page(page)
        places = node_places(page)
        assert places["c:internet"]["y"] < places["c:web-server"]["y"] < places["c:database"]["y"]

    def test_text_can_be_read_in_light_and_dark(self, page: Page) -> None:
        open_page(page, "#look?role=watch&steps=2")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for tab in TABS:
                page.locator(f"#tab-{tab}").click()
                assert page.evaluate(FAINT_TEXT, CONTRAST) == [], theme

    def test_a_chosen_theme_lasts(self, page: Page) -> None:
        paper = "getComputedStyle(document.body).backgroundColor"
        page.emulate_media(color_scheme="dark")
        open_page(page)
        dark = page.evaluate(paper)
        page.locator("#theme").click()
        light = page.evaluate(paper)
        assert light != dark
        page.reload()
        assert page.evaluate(paper) == light

    def test_everything_works_from_the_keyboard(self, page: Page) -> None:
        open_page(page)
        page.locator("#tab-look").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#tab-solve")).to_be_focused()
        expect(page.locator("#panel-solve")).to_be_visible()
        page.keyboard.press("p")
        expect(page.locator("#choices input").first).to_be_visible()
        page.keyboard.press("1")
        expect(page.locator("#choices input").first).to_be_checked()
        page.keyboard.press("n")
        expect(page.locator("#log li")).to_have_count(1)
        page.keyboard.press("u")
        expect(page.locator("#log li")).to_have_count(0)
        page.keyboard.press("?")
        expect(page.locator("#help-dialog")).to_be_visible()
        page.get_by_label("keys work").uncheck()
        page.keyboard.press("Escape")
        expect(page.locator("#help-dialog")).to_be_hidden()
        page.keyboard.press("c")
        expect(page.locator("#panel-play")).to_be_visible()

    def test_focus_is_always_seen(self, page: Page) -> None:
        open_page(page, "#play")
        page.locator("#skip").focus()
        for _ in range(12):
            page.keyboard.press("Tab")
            width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
            assert width >= 2

    def test_controls_have_names(self, page: Page) -> None:
        open_page(page)
        for tab in TABS:
            page.locator(f"#tab-{tab}").click()
            assert NAMELESS.findall(page.locator("body").aria_snapshot()) == []

    def test_nothing_jumps_while_the_page_loads(self, page: Page) -> None:
        open_page(page)
        assert page.evaluate(LAYOUT_SHIFT) < SHIFT

    def test_nothing_jumps_while_a_game_is_played(self, page: Page) -> None:
        open_page(page, "#play?role=attacker")
        places = [page.locator(name) for name in ("#graph", "#turn", "#transport", "#panel-play .beliefs", "#log")]
        before = [place.bounding_box() for place in places]
        page.get_by_label("watching").check()
        expect(page.locator("#turn-title")).to_have_text("Stage 1")
        while page.locator("#step").is_enabled():
            make_step(page)
        tops = [(box["x"], box["y"]) for box in before if box]
        assert [(box["x"], box["y"]) for box in (place.bounding_box() for place in places) if box] == tops
