"""Photographs the page of a report in headless Chromium: `python docs/pictures/page.py`.

Writes `report-page.png` beside this file. Needs the `dev` extra, and Chromium with its driver on the path.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from hotdesk.cli.main import main as hotdesk

MODEL = """from examples.models import MODELS

def build():
    return MODELS["resnet50"].build(), MODELS["resnet50"].inputs()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("resnet50.py").write_text(MODEL)
        if hotdesk(["report", "resnet50.py:build", "--html", "page.html"]):
            sys.exit(1)
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1240,1760"):
            options.add_argument(switch)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        browser.get(Path("page.html").resolve().as_uri())
        WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.body.dataset.drawn") == "yes")
        browser.save_screenshot(str(HERE / "report-page.png"))
        browser.quit()


if __name__ == "__main__":
    main()
