"""The pages in Chromium, used as a person uses them; without a browser, these tests are skipped."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from rnng_dy.serve import app
from rnng_dy.serve.view import PAGES

from .conftest import needs_serve, serving

pytestmark = needs_serve

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (320, 768, 1440)
AXE = os.environ.get("RNNG_DY_AXE")
"""The file axe.min.js of npm's axe-core, whose licence is not that of this project."""


@pytest.fixture(scope="module")
def address(models):
    """The address of a server in a thread."""
    with serving(app(models)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser is installed")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


def is_mistake(said) -> bool:
    """Whether a message of the console is an error, other than that a page has a status of refusal."""
    return said.type == "error" and "status of 422" not in said.text


@pytest.fixture
def page(browser, address):
    """A page of 1280 pixels; an error of its scripts, or a broken policy, fails the test."""
    context = browser.new_context(
        base_url=address, viewport={"width": 1280, "height": 900}, accept_downloads=True
    )
    found, problems = context.new_page(), []
    found.set_default_timeout(60_000)
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("console", lambda said: problems.append(said.text) if is_mistake(said) else None)
    found.on(
        "request",
        lambda r: None if r.url.startswith((address, "data:")) else problems.append(r.url),
    )
    yield found
    context.close()
    assert problems == []


def until(page, condition, seconds: float = 30.0) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        # a plain sleep would let no event of the browser through
        page.wait_for_timeout(50)


def test_trees_appear_while_one_types_and_the_address_holds_them(page):
    page.goto("/parse?text=It+works.")
    page.get_by_label("Text").fill("The cat sat.")
    until(page, lambda: "The cat sat" in page.locator("#answer h2").first.inner_text())
    until(page, lambda: "The+cat+sat." in page.url)
    assert page.locator("#answer svg").count() == 1
    page.get_by_label("Trees").fill("3")
    until(page, lambda: page.locator("#answer svg").count() == 3)
    page.get_by_label("Probabilities of brackets").check()
    until(page, lambda: page.locator("#answer svg").count() == 4)
    page.get_by_label("Compare with").select_option("english-generative")
    until(page, lambda: page.get_by_text("english-generative, 1").count() == 1)
    drawn = page.locator("#answer svg").count()
    page.reload()
    assert page.get_by_label("Text").input_value() == "The cat sat."
    assert page.locator("#answer svg").count() == drawn


def test_a_tag_is_changed_and_given_back(page):
    page.goto("/parse?text=The+cat+saw+it.")
    tag = page.locator(".tags select").nth(1)
    tag.focus()
    until(page, lambda: tag.locator("option").count() > 30)
    tag.select_option("VB")
    until(page, lambda: "cat_VB" in page.url)
    assert page.locator(".tags select").nth(1).input_value() == "VB"
    page.get_by_role("button", name="Tags of the tagger").click()
    until(page, lambda: page.locator(".tags select").nth(1).input_value() == "NN")


def test_trees_are_read_as_a_list_and_saved(page):
    page.goto("/parse?text=The+cat+sat.")
    page.get_by_text("As a list").click()
    assert page.locator(".list").get_by_text("DT The").is_visible()
    with page.expect_download() as saved:
        page.get_by_role("link", name="LaTeX").click()
    assert saved.value.suggested_filename == "trees.tex"
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").click()
    with open(saved.value.path(), "rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"


def test_a_mistake_is_said_on_the_page(page):
    page.goto("/parse?text=It+works.")
    page.get_by_label("Text").fill("a " * 101)
    until(page, lambda: page.get_by_role("alert").count() == 1)
    assert "101 words" in page.get_by_role("alert").inner_text()


def test_bars_are_compared_by_keys(page):
    page.goto("/surprisal")
    assert page.locator("#sentences section").count() == 2
    page.locator(".words li").first.click()
    page.keyboard.press("ArrowRight")
    assert page.locator("#panel b").first.inner_text() == "the"
    assert page.locator("#panel svg").count() == 1
    page.keyboard.press("ArrowDown")
    page.get_by_label("Sentences").fill("It works.")
    page.get_by_role("button", name="Show").click()
    until(page, lambda: page.locator("#sentences section").count() == 1)


def test_keys_in_a_field_are_the_fields_own(page):
    page.goto("/surprisal?text=It+works.")
    field = page.get_by_label("Sentences")
    field.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("2")
    assert field.input_value() == "It works2."
    assert page.evaluate("document.activeElement.name") == "text"


def test_bars_come_word_by_word_and_make_room_for_the_answer(page):
    # a fast answer leaves no time to ask for the bars
    page.add_init_script(
        "new MutationObserver(() => { window.came ||= document.querySelector('.coming li') != null })"
        ".observe(document, { childList: true, subtree: true })"
    )
    page.goto("/surprisal?text=The old man who lives here saw the girl with the telescope.")
    assert page.evaluate("window.came")
    assert page.locator("#sentences li").count() == 14
    assert page.locator(".coming").count() == 0


def test_the_film_is_played_by_keys_slider_and_buttons(page):
    page.goto("/film")
    shown = page.locator("#frames [aria-pressed=true]")
    assert shown.inner_text().startswith("After")
    page.keyboard.press("ArrowRight")
    assert shown.inner_text().startswith("the")
    page.locator("#frames button").nth(5).click()
    assert shown.inner_text().startswith("doctor")
    assert page.locator("#strip li").count() == 10
    assert page.locator("#strip .dies").count() > 0
    assert "partial trees" in page.locator("#said").inner_text()
    page.get_by_label("Position").focus()
    page.keyboard.press("Home")
    assert shown.inner_text().startswith("After")
    page.get_by_role("button", name="Play").click()
    until(page, lambda: shown.inner_text().startswith("patient"))
    page.get_by_role("button", name="Stop").click()
    page.goto("/film#11")
    page.reload()
    assert shown.inner_text().startswith("</s>")


def test_a_sample_grows(page):
    page.goto("/sample?n=2&max_length=15")
    assert page.locator("#samples button").count() == 2
    whole = page.locator("#strip text").count()
    page.get_by_role("button", name="Back").click()
    page.get_by_label("Position").focus()
    page.keyboard.press("Home")
    assert page.locator("#strip text").count() == 1 < whole
    page.locator("#samples button").nth(1).click()
    assert page.locator("#samples button").nth(1).get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("name", ["parse", "surprisal", "film", "models", "interface"])
def test_a_page_fits_every_width_and_is_reached_by_keys(page, name):
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"/{name}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#answer")


@pytest.mark.skipif(AXE is None, reason="RNNG_DY_AXE names no axe.min.js of npm's axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violations(browser, address, name, scheme):
    # the policy admits no script but the server's
    context = browser.new_context(base_url=address, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"/{name}")
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    assert page.evaluate("axe.run().then((found) => found.violations)") == []
    context.close()


def test_pages_work_without_script(browser, address):
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/parse")
    page.get_by_label("Text").fill("The cat sat.")
    page.get_by_role("button", name="Show").click()
    # a click does not wait for the page that it asks for
    page.wait_for_url("**/parse?text=The+cat+sat.*")
    assert page.locator("#answer svg").count() == 1
    context.close()
