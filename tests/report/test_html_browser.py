"""The HTML report in a browser: the distribution's Chromium, without a window, from a file."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.report.html import write_report
from scheduler_sim.study.conduct import conduct
from tests.report.schedules import EASY, behind_a_shadow, beside_each_other, schedule
from tests.report.test_html import HOSTILE, hostile
from tests.report.test_resources import two_modules
from tests.result.hand_made import Run
from tests.study.studies import small

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

try:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright
except ImportError:
    pytest.skip("playwright or axe-playwright-python is not installed", allow_module_level=True)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the path"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

DRAWN = """place => {
  const canvases = [];
  const search = root => {
    for (const element of root.querySelectorAll("*")) {
      if (element.tagName === "CANVAS") canvases.push(element);
      if (element.shadowRoot) search(element.shadowRoot);
    }
  };
  search(document.querySelector(place));
  const colours = new Set();
  for (const canvas of canvases) {
    const { width, height } = canvas;
    if (!width || !height) continue;
    const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] > 250) colours.add(pixels.slice(i, i + 3).join());
    }
  }
  return [...colours];
}"""
"""The opaque colours on the canvases of a chart."""

PAINTED = """() => new Promise(
  done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))
)"""
"""Wait until the charts are on the screen."""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        # A container's root may not use the sandbox; the pages are our own.
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture
def opened(browser):
    """Open a file: ``with opened(path) as page``; no error, request or dialog may come."""

    @contextmanager
    def visit(path, viewport=DESKTOP):
        wrong = []
        page = browser.new_page(viewport=viewport)
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda asked: wrong.append(asked.url) if not _own(asked.url, path) else None)
        try:
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", timeout=20_000)
            page.evaluate(PAINTED)
            yield page
        finally:
            page.close()
        assert wrong == []

    return visit


def _own(url, path):
    return url == path.as_uri() or url.startswith(("data:", "blob:"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The report of a run: 80 jobs on two modules."""
    runs = [
        Run(i * 10, i * 10 + 40 * (i % 7), 30 + i % 5, 1 + i % 3, module=("CM", "ESB")[i % 2], limit=60)
        for i in range(80)
    ]
    folder = tmp_path_factory.mktemp("report") / "run"
    schedule(runs, {"CM": 64, "ESB": 64}, EASY).save(folder)
    return write_report(folder)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The report of a study: two policies, six seeds."""
    folder = tmp_path_factory.mktemp("report") / "study"
    conduct(small(baseline={"policy": "easy"}, seeds=6, name=HOSTILE[0]), folder)
    return write_report(folder)


def of(result, folder):
    result.save(folder)
    return write_report(folder)


# A run


def test_every_chart_of_a_run_is_drawn(opened, run):
    with opened(run) as page:
        for chart in ("#busy-chart", "#queue-chart", "#wait-chart", "#gantt .chart >> nth=0"):
            assert len(_colours(page, chart)) > 5, chart
        assert "30,155,138" not in _colours(page, "#gantt .chart >> nth=0")  # nobody waited for hours
        assert page.locator("#gantt h4").all_text_contents() == ["CM: 64 nodes", "ESB: 64 nodes"]


def _colours(page, place):
    page.locator(place).evaluate("element => element.dataset.looked = 'at'")
    found = page.evaluate(DRAWN, "[data-looked]")
    page.locator(place).evaluate("element => delete element.dataset.looked")
    return found


def test_search_finds_a_job_and_shows_its_story(opened, tmp_path):
    with opened(of(behind_a_shadow(), tmp_path / "run")) as page:
        page.get_by_label("Component id or name").fill("3")
        page.keyboard.press("Enter")
        story = page.locator("#story-text").inner_text()
        assert "Component 3 (user cy) asked for 2 of 10 nodes of CM" in story
        assert "It sat behind the reservation of component 2" in " ".join(story.split())

        page.get_by_label("Component id or name").fill("4")
        page.get_by_role("button", name="Find").click()
        assert "It did not wait: it started at the instant" in page.locator("#story-text").inner_text()

        page.get_by_label("Component id or name").fill("77")
        page.get_by_role("button", name="Find").click()
        assert "No component has the id" in page.locator("#story-text").inner_text()


def test_a_short_story_has_the_moments_and_the_waits(opened, tmp_path):
    runs = [Run(0, 0, 100, 8), Run(10, 130, 50, 8, eligible=40, job=1), Run(20, None, 60, 4, state="PENDING")]
    path = of(schedule(runs, {"CM": 10}, EASY), tmp_path / "run")
    path.write_text(path.read_text().replace('"stories":{', '"stories":{},"unused":{'))
    with opened(path) as page:
        page.get_by_label("Component id or name").fill("2")
        page.keyboard.press("Enter")
        lines = [" ".join(line.split()) for line in page.locator("#story-text pre").inner_text().splitlines()]
        assert lines[0].endswith("asked for 8 nodes of CM for up to 50 s: COMPLETED after 50 s. Policy easy.")
        assert "eligible 0d 00:00:40" in lines
        assert "started 0d 00:02:10" in lines
        assert "It waited 0:02:00:" in lines
        assert "dependency 30 s, 25 %: waiting for other components, or for its begin time" in lines
        assert "priority 30 s, 25 %: enough nodes were idle, but the policy kept them for others" in lines
        assert "resources 0:01:00, 50 %: not enough nodes were idle" in lines

        page.get_by_label("Component id or name").fill("3")
        page.keyboard.press("Enter")
        assert "It never started" in page.locator("#story-text pre").inner_text()


def test_the_table_sorts_filters_and_turns_its_pages(opened, run):
    with opened(run) as page:
        first = page.locator("#job-table tbody tr >> nth=0 >> th")
        rows = page.locator("#job-table tbody tr")
        told = page.locator("#job-table output")
        assert (first.inner_text(), rows.count(), told.inner_text()) == ("1", 50, "1 to 50 of 80 jobs")

        page.get_by_role("button", name="Next page").click()
        assert (first.inner_text(), told.inner_text()) == ("51", "51 to 80 of 80 jobs")

        page.get_by_role("button", name="waited").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert (first.inner_text(), rows.nth(0).locator("td").nth(-2).inner_text()) == ("7", "0:04:00")
        assert page.locator("th[aria-sort]").inner_text() == "waited [h:mm:ss]"
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"

        page.get_by_label("module", exact=True).select_option(label="ESB")
        page.get_by_label("nodes", exact=True).select_option(label="2–4")
        assert told.inner_text() == "1 to 27 of 27 jobs"  # of 40 on ESB, 13 have one node
        page.get_by_label("contains").fill("nobody")
        page.wait_for_timeout(300)
        assert told.inner_text() == "No job fits."


def test_a_row_leads_to_the_story_and_the_story_to_the_charts(opened, run):
    with opened(run) as page:
        page.get_by_role("button", name="30", exact=True).click()
        page.get_by_role("button", name="Show it in the charts").click()
        page.wait_for_timeout(300)
        # submitted at 290 s, started at 330 s, ended at 364 s: the span is that and a quarter around it
        assert page.locator("#time-controls output").inner_text() == "Shown: 0d 00:04:32 to 0d 00:06:23"


def test_buttons_zoom_and_move_all_charts_together(opened, run):
    with opened(run) as page:
        shown = page.locator("#time-controls output")
        whole = shown.inner_text()
        page.get_by_role("button", name="Zoom in").focus()
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
        narrow = shown.inner_text()
        page.get_by_role("button", name="Earlier").click()
        page.wait_for_timeout(300)
        moved = shown.inner_text()
        spans = page.evaluate(
            "Bokeh.documents.map(d => d.roots()[0].x_range).map(r => [r.start, r.end].join())"
        )
        page.get_by_role("button", name="Whole run").click()
        page.wait_for_timeout(300)

        assert len({whole, narrow, moved}) == 3
        assert shown.inner_text() == whole
        assert max(map(spans.count, spans)) == 4  # busy, queue, two modules; waits and shares have their own


def test_hovering_over_the_nodes_tells_the_job(opened, run):
    with opened(run) as page:
        gantt = page.locator("#gantt .chart").first
        gantt.scroll_into_view_if_needed()
        box = gantt.bounding_box()
        tooltip = page.locator(".tooltip")
        found = set()
        for share in (0.2, 0.35, 0.5, 0.65):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] - 35)
            page.wait_for_timeout(100)
            found.add(tooltip.inner_text() if tooltip.is_visible() else "")
        assert any("nodes of CM, COMPLETED" in text or "node of CM, COMPLETED" in text for text in found)


def test_colours_are_of_what_was_chosen(opened, run):
    with opened(run) as page:
        legends = []
        for by in ("wait", "size", "user", "app", "state"):
            page.get_by_label("Colours by").select_option(by)
            legends.append(page.locator("#gantt .legend").first.inner_text())
        assert "at once" in legends[0]
        assert "COMPLETED" in legends[-1]
        assert len(set(legends)) == 5


@pytest.mark.interpreted
def test_jobs_that_share_a_node_are_told_apart(opened, tmp_path):
    with opened(of(beside_each_other(), tmp_path / "run")) as page:
        found = page.evaluate(
            """() => {
              const plots = Bokeh.documents.map((one) => one.roots()[0]);
              const nodes = plots.find((one) => one.left[0].axis_label === "node");
              const { bottom, top, line } = nodes.renderers[0].data_source.data;
              const white = line.map((colour) => colour === "white");
              return [bottom, top, white].map((column) => Array.from(column));
            }"""
        )
        assert found[:2] == [[0, 0.5, 1, 1], [0.5, 0.75, 3, 1.75]]
        assert found[2] == [True] * 4  # large enough for a border
        note = page.locator("#gantt + p").inner_text()
        assert "its share of the cores" in note
        assert "all alike" not in note


@pytest.mark.interpreted
def test_what_is_used_and_stranded_is_drawn(opened, tmp_path):
    with opened(of(two_modules(), tmp_path / "run")) as page:
        for kind in ("cores", "memory_kb", "gpus"):
            assert len(_colours(page, f"#{kind}-chart")) > 5, kind
        drawn = """() => Bokeh.documents.map((one) => one.roots()[0])
          .filter((one) => one.left[0].axis_label.startsWith("GPUs in use of"))
          .map((one) => one.renderers.at(-1).data_source.data)
          .map(({ left, right, low, high }) => [left, right, low, high].map((one) => Array.from(one)))[0]"""
        page.get_by_label("Lines show").select_option(label="G")
        page.wait_for_timeout(300)
        assert page.evaluate(drawn) == [[10_000], [50_000], [0], [2]]
        page.get_by_label("Lines show").select_option(label="W")
        page.wait_for_timeout(300)
        assert page.evaluate(drawn) == [[], [], [], []]


@pytest.mark.interpreted
def test_a_border_does_not_hide_a_small_rectangle(opened, tmp_path):
    """Of 100 nodes of 4 cores a core is about a pixel high."""
    nodes = {"name": "CM", "nodes": 100, "shared": True, "cores_per_node": 4}
    jobs = Workload.from_columns(nodes=1, submit_time=[0, 0], run_time=100, cores=1)
    result = simulate(System.from_dict({"modules": [nodes]}), jobs, "fcfs")
    with opened(of(result, tmp_path / "run")) as page:
        colours = [tuple(map(int, one.split(","))) for one in _colours(page, "#gantt .chart")]
        assert any(red > 200 and blue < 100 for red, _, blue in colours)  # the yellow of "at once", not paler


PLOTS = (
    "Object.fromEntries(Bokeh.documents.map((one) => one.roots()[0]).map((p) => [p.left[0].axis_label, p]))"
)
"""Each chart by what its y axis is called."""


@pytest.mark.long
def test_of_a_long_run_layers_are_drawn_axes_have_dates_and_follow_the_zoom(opened, tmp_path):
    runs = [Run(i * 3600, i * 3600, 1800, 1) for i in range(3001)] + [Run(7200, 7200, 900, 1)]
    result = schedule(runs, {"CM": 2}, EASY)
    result.manifest["trace"] = {"unix_start_time": 1_704_067_200}  # 2024-01-01
    with opened(of(result, tmp_path / "run")) as page:
        # A node is busy half of the time, with jobs that did not wait.
        layers = page.evaluate(f"(({PLOTS})['nodes'].renderers[0].data_source.data)")
        assert set(layers["colour"]) == {"#ece51b"}
        assert {round(top, 1) for top in list(layers["top"])[1:-2]} == {0.5}
        axes = page.evaluate(
            f"""() => ({PLOTS})["nodes"].below.map((one) => {{
              const ticks = one.ticker.get_ticks(0, 3001 * 3600e3).major;
              return one.formatter.doFormat(ticks);
            }})"""
        )
        assert axes[0][:3] == ["Jan 1, 2024", "Jan 8", "Jan 15"]  # Mondays
        assert axes[1][:2] == ["0d", "10d"]
        assert "2024-05-05" in page.locator("#time-controls output").inner_text()
        assert "submitted [UTC]" in page.locator("#job-table thead").inner_text()
        assert "2024-01-01 01:00:00" in page.locator("#job-table tbody tr >> nth=1").inner_text()
        end = f"({PLOTS})['busy nodes of 2'].y_range.end"
        assert page.evaluate(end) == pytest.approx(2.1)  # two at once, in the first hours
        page.get_by_role("button", name="Zoom in").click()
        page.wait_for_timeout(500)
        assert page.evaluate(end) == pytest.approx(1.05)


def test_on_paper_every_chart_is_a_picture_of_itself(opened, run):
    with opened(run) as page:
        plots = "Bokeh.documents.map((one) => one.roots()[0])"
        busy = f"{plots}.find((one) => one.left[0].axis_label.startsWith('busy'))"
        assert page.evaluate(f"{busy}.renderers[0].glyph.type") == "VArea"  # which has no seams
        charts = page.locator(".chart").count()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        widths = page.evaluate("[...document.querySelectorAll('.chart > canvas')].map((one) => one.width)")
        assert len(widths) == charts
        assert set(widths) <= {360, 720}
        assert (
            page.evaluate("document.querySelectorAll('.chart > :not(canvas)')[0].checkVisibility()") is False
        )
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".chart > canvas").count() == 0


def test_on_a_phone_each_comparison_is_a_card_and_other_tables_scroll(opened, study):
    with opened(study, PHONE) as page:
        verdicts = page.locator("#found table.cards td[data-column=verdict]")
        boxes = [verdicts.nth(i).bounding_box() for i in range(verdicts.count())]
        assert boxes
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] for box in boxes)
        place = "document.querySelector('#means .scroll')"
        assert page.evaluate(f"{place}.scrollWidth > {place}.clientWidth")
        page.evaluate(f"{place}.scrollLeft = 500")
        first = page.locator("#means tbody th").first.bounding_box()
        assert 0 <= first["x"] < 20  # the first column stays


def test_hostile_names_are_text(opened, tmp_path):
    with opened(of(hostile(), tmp_path / "run")) as page:
        cells = page.locator("#job-table td", has_text="<script>alert(1)</script>")
        assert cells.count() == 3  # name, user, app
        assert page.evaluate("document.images.length") == 0
        page.get_by_label("Component id or name").fill("<script>alert(1)</script>")
        page.keyboard.press("Enter")
        assert "<script>alert(1)</script>" in page.locator("#story-text").inner_text()
        page.get_by_label("Component id or name").fill("<img src=x onerror=alert(3)>")
        page.keyboard.press("Enter")
        assert "<img src=x onerror=alert(3)>" in page.locator("#story-text").inner_text()
        assert page.locator("#gantt h4").inner_text() == "<b>M</b>: 4 nodes"


def test_the_page_may_neither_fetch_nor_run_what_is_put_into_it(browser, run):
    page = browser.new_page()
    page.goto(run.as_uri())
    page.wait_for_selector("html[data-ready]")
    asked = "fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')"
    added = """() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      return window.ran === true;
    }"""
    assert page.evaluate(asked) == "refused"
    assert page.evaluate(added) is False
    page.close()


@pytest.mark.parametrize("runs", [[], [Run(5, 5, 0, 1)], [Run(5, None, 9, 1, state="PENDING")]])
def test_odd_results_are_shown_without_complaint(opened, tmp_path, runs):
    with opened(of(schedule(runs, {"CM": 4}, EASY), tmp_path / "run")) as page:
        assert page.locator("h1").inner_text() == "A trace under easy"


# A study


def test_a_study_is_drawn_and_its_tables_sort(opened, study):
    with opened(study) as page:
        assert page.locator("h1").inner_text() == f"Study: {HOSTILE[0]}"
        assert len(_colours(page, "#forest-0")) > 5
        assert page.locator("#found li").first.inner_text().startswith("fcfs against easy: mean wait ")
        cells = page.locator("#means tbody tr")
        before = cells.all_inner_texts()
        page.locator("#means").get_by_role("button", name="mean wait").click()
        ascending = cells.all_inner_texts()
        page.locator("#means").get_by_role("button", name="mean wait").click()
        assert sorted(before) == sorted(ascending)
        assert cells.all_inner_texts() == ascending[::-1]


# Anybody, anywhere


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("which", ["run", "study"])
def test_the_page_is_accessible_and_as_wide_as_the_screen(opened, request, which, viewport):
    with opened(request.getfixturevalue(which), viewport) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        found = Axe().run(page)
        assert found.response["violations"] == [], found.generate_report()


def test_every_control_is_reached_by_tab(opened, run):
    controls = "[...document.querySelectorAll('button:enabled, input, select, summary')]"
    with opened(run) as page:
        wanted = page.evaluate(f"{controls}.length")
        reached = set()
        for _ in range(wanted + 60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(f"{controls}.indexOf(document.activeElement)"))
        assert len(reached - {-1}) == wanted


BROKEN = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll("th, td:not(.long)")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/[^\\s–-]+/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
"""Words of tables, but of long text, that stand on more than one line."""


@pytest.mark.long
def test_a_study_on_a4_breaks_no_word_and_fits(opened, tmp_path):
    study = small(
        seeds=5,
        policies={"fcfs": "fcfs", "easy": "easy", "conservative": "conservative"},
        parameters={"recipe.model.arrivals.offered_load": [0.7, 0.8]},
        baseline={"policy": "easy"},
        metrics=["wait_time_mean", "bounded_slowdown_mean", "wait_time_p99", "overtaken_share"],
    )
    conduct(study, tmp_path / "study")
    with opened(
        write_report(tmp_path / "study"), {"width": 718, "height": 1000}
    ) as page:  # A4, margins of 1 cm
        page.emulate_media(media="print")
        assert page.evaluate(BROKEN) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
