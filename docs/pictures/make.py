"""Makes the pictures of the README: `python docs/pictures/make.py`, with Chromium on the machine.

They show the playground's own sample, so they are the same until the sample or the page changes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import cereus
from cereus import show
from cereus.play.samples import SAMPLES

FOLDER = Path(__file__).parent
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PALE = "#ffffff"


def timeline() -> None:
    """The matches of the first example, from the first event of each on."""
    sample = SAMPLES["market"]
    query = cereus.compile(sample.examples["ceql"], stream=sample.stream)
    chart = show.timeline(query.run(sample.events(), order="time"), time="ts", aligned=True)
    room = {"left": 5, "top": 5, "right": 30, "bottom": 5}  # the legend, in a wider font
    show.save(chart.configure(background=PALE, padding=room), FOLDER / "timeline.svg")


def playground() -> None:
    """What a stranger sees first."""
    command = [sys.executable, "-m", "cereus.cli.main", "play", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        try:
            _screenshot(address)
        finally:
            server.terminate()


def _screenshot(address: str) -> None:
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 760}, color_scheme="light")
        page.set_default_timeout(120_000)
        page.goto(address)
        page.locator("#panel-matches .chart svg").first.wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "playground.png")
        browser.close()


if __name__ == "__main__":
    timeline()
    playground()
