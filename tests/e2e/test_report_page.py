"""The pages in headless Chromium: they open without an error, and hover, search, filters and keys work."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import hotdesk
from examples.models import MODELS
from hotdesk.frontends.torch.eager import allocations, eager_call
from hotdesk.report.document import Series
from hotdesk.report.page import page
from hotdesk.report.profile import Profile, Roof
from hotdesk.report.tradeoff_page import tradeoff_page
from tests.unit.report.test_page import many

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
    assert driver, "these tests need Chromium and its driver: apt-get install chromium chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = chromium or ""
    for switch in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1240,1600",
    ):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


def _open(browser: webdriver.Chrome, text: str, folder: Path) -> float:
    """Opens a page; returns the seconds until its charts are drawn, by the browser's clock."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    browser.get(path.as_uri())
    WebDriverWait(browser, 60, 0.02).until(lambda b: b.execute_script("return document.body.dataset.drawn") == "yes")
    _require_silence(browser)
    return float(browser.execute_script("return document.body.dataset.seconds"))


def _require_silence(browser: webdriver.Chrome) -> None:
    assert [each for each in browser.get_log("browser") if each["level"] in ("SEVERE", "WARNING")] == []


def _count(browser: webdriver.Chrome, table: str) -> str:
    return browser.find_element(By.ID, f"{table}-count").text


def _tip(browser: webdriver.Chrome, places: Iterator[tuple[int, int]], wanted: str, pause: float = 0.05) -> str:
    """The first tip with some words that the pointer meets over the chart, at places from its middle."""
    canvas = browser.find_element(By.CSS_SELECTOR, "#chart canvas")
    for x, y in places:
        ActionChains(browser).move_to_element_with_offset(canvas, x, y).perform()
        time.sleep(pause)
        tips = browser.find_elements(By.CSS_SELECTOR, "#vg-tooltip-element.visible")
        if tips and wanted in tips[0].text:
            return tips[0].text
    return ""


def test_gpt2(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """With the time of kernels and a line of eager PyTorch; `-s` prints how long the page takes to open."""
    spec = MODELS["gpt2"]
    model, inputs = spec.build(), spec.inputs()
    program = hotdesk.compile(model, inputs)
    made = program.document(*inputs).with_profile(program.profile(*inputs))
    eager = allocations(eager_call(model, inputs, {}))
    made = made.with_series([Series("eager PyTorch", "its profiler", (0.0, 1.0), (0, eager.peak))])
    print("GPT-2 opens in", min(_open(browser, page(made, "gpt2"), tmp_path) for _ in range(3)), "s")
    tree = browser.find_element(By.CSS_SELECTOR, "ul.tree")
    assert "ms" in tree.text
    assert browser.find_elements(By.CSS_SELECTOR, "#kernels tbody tr")
    inner = [each.get_attribute("textContent") or "" for each in tree.find_elements(By.CSS_SELECTOR, ".name")]
    assert {"transformer", "h", "11", "attn", "c_proj"} <= set(inner)


def test_ten_thousand_buffers(browser: webdriver.Chrome, tmp_path: Path) -> None:
    made = many(10_000)
    print("10,000 buffers open in", min(_open(browser, page(made), tmp_path) for _ in range(3)), "s")
    assert _count(browser, "buffers") == "10,000 of 10,000, the first 300 shown"


def test_search_filter_and_keys(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, page(many(60)), tmp_path)
    browser.find_element(By.ID, "decisions-search").send_keys("layers.3 workspace")
    assert _count(browser, "decisions") == "5 of 60"
    Select(browser.find_element(By.ID, "decisions-filter")).select_by_visible_text("allocated")
    assert _count(browser, "decisions") == "5 of 60"
    browser.find_element(By.ID, "decisions-search").send_keys(" nothing")
    assert _count(browser, "decisions") == "0 of 60"
    row = browser.find_element(By.CSS_SELECTOR, "#buffers tbody tr")
    row.send_keys(Keys.ENTER)
    assert "picked" in (row.get_attribute("class") or "")
    assert browser.execute_script("return view.signal('picked')") == "b0"
    row.send_keys(Keys.ENTER)
    assert browser.execute_script("return view.signal('picked')") == ""


def test_arrows_lead_through_the_buffers(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Tab stops at one row, not at each; what is picked stays so while others are searched."""
    _open(browser, page(many(60)), tmp_path)
    stops = "return [...document.querySelectorAll(\"#buffers tbody tr[tabindex='0']\")].map(each => each.cells[0].textContent)"
    focused = "return document.activeElement.cells[0].textContent"
    assert browser.execute_script(stops) == ["b0"]
    browser.find_element(By.CSS_SELECTOR, "#buffers tbody tr").send_keys(
        Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_DOWN
    )
    assert browser.execute_script(focused) == "b2"
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    browser.switch_to.active_element.send_keys(Keys.END)
    assert browser.execute_script(focused) == "b59"
    assert browser.execute_script(stops) == ["b59"]
    search = browser.find_element(By.ID, "buffers-search")
    search.send_keys("b1")
    search.send_keys(Keys.BACKSPACE, "2")
    assert browser.execute_script(stops) == ["b2"]
    assert "picked" in (browser.find_element(By.CSS_SELECTOR, "#buffers tr[tabindex='0']").get_attribute("class") or "")
    assert browser.execute_script("return view.signal('picked')") == "b2"
    _require_silence(browser)


def test_paths_end_their_lines_behind_dots_and_slashes(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, page(many(6)), tmp_path)
    for table in ("peak", "buffers", "decisions"):
        found = browser.execute_script(
            f"return document.querySelector('#{table} tbody td.path:nth-last-child(2)').innerHTML"
        )
        assert found.split("<wbr>")[0] == "layers."


def test_hover_tells_of_a_buffer(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, page(many(6)), tmp_path)
    height = browser.find_element(By.CSS_SELECTOR, "#chart canvas").size["height"]
    tip = _tip(browser, ((-100, height // 2 - up) for up in range(60, 300, 20)), "why not earlier")
    assert "linalg.exp" in tip


def test_hover_tells_of_the_time_of_a_point(browser: webdriver.Chrome, tmp_path: Path) -> None:
    profile = Profile("many", (), 7, Roof(1, {"f32": 1e9}, 1e9), (), tuple((i, 1e-3) for i in range(6)))
    _open(browser, page(many(6).with_profile(profile)), tmp_path)
    height = browser.find_element(By.CSS_SELECTOR, "#chart canvas").size["height"]
    tip = _tip(browser, ((-100, up - height // 2) for up in range(270, 420, 15)), "ms")
    assert "1.0000" in tip
    assert "6.000 ms" in browser.find_element(By.CSS_SELECTOR, "ul.tree").text


def test_the_page_of_a_trade_off(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Hover, and the command of a point; light and dark."""
    x = torch.ones(64, 16)
    model = torch.nn.Sequential(torch.nn.Linear(16, 256), torch.nn.GELU(), torch.nn.Linear(256, 16)).eval()
    command = "hotdesk run m.py"
    made = hotdesk.tradeoff(model, (x,), budgets=["40KiB"], beside=["eager"], seconds=0.3, command=command)
    _open(browser, tradeoff_page(made, "a model"), tmp_path)
    text = browser.find_element(By.TAG_NAME, "body").text
    assert "hotdesk run m.py --budget 40960" in text
    assert "eager PyTorch" in text
    points = browser.execute_script(_POINTS)
    assert len(points) >= len(made.points)
    size = browser.find_element(By.CSS_SELECTOR, "#chart canvas").size
    x, y, name = points[-1]  # nothing is drawn over the last one
    tip = _tip(browser, iter([(round(x - size["width"] / 2), round(y - size["height"] / 2))]), "how", pause=1.0)
    assert name in tip
    assert "hotdesk run m.py" in tip
    browser.find_element(By.ID, "theme").click()
    _require_silence(browser)


_POINTS = """
const found = [], [left, top] = view.origin(), around = view.padding();
function walk(node, x, y) {
  for (const item of node.items || []) {
    const is_point = node.marktype === "symbol" && item.datum && item.datum.how;
    if (is_point) found.push([around.left + left + x + item.x, around.top + top + y + item.y, item.datum.name]);
    for (const inner of item.items || []) walk(inner, x + (item.x || 0), y + (item.y || 0));
  }
}
walk(view.scenegraph().root, 0, 0);
return found;
"""
"""The points of the charts: where they are drawn, and their names."""


def test_light_and_dark(browser: webdriver.Chrome, tmp_path: Path) -> None:
    _open(browser, page(many(6)), tmp_path)
    colours: list[str] = []
    for _ in range(2):
        behind = browser.execute_script("return data.chart.params.find(each => each.name === 'back').value")
        shown = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert shown == f"rgb({', '.join(str(int(behind[at : at + 2], 16)) for at in (1, 3, 5))})"
        colours.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        browser.find_element(By.ID, "theme").click()
    assert sorted(colours) == ["rgb(18, 22, 28)", "rgb(255, 255, 255)"]
    _require_silence(browser)
