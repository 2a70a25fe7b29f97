"""The pages in Chromium, used as a person uses them; without a browser, these tests are skipped."""

import shutil
import time

import pytest

from rnng_dy.serve import app

from .conftest import needs_serve, serving

pytestmark = needs_serve

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE, SCREEN = 390, 1200


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
    """Whether a message of the console is an error other than the status of a refusal."""
    return said.type == "error" and "status of 422" not in said.text


@pytest.fixture
def page(browser, address):
    """A page on a screen; an error of its scripts, or a broken policy, fails the test."""
    context = browser.new_context(base_url=address, viewport={"width": SCREEN, "height": 900})
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
    page.get_by_label("Samples").fill("50")
    until(page, lambda: page.locator("#answer svg").count() == 4)
    drawn = page.locator("#answer svg").count()
    page.reload()
    assert page.get_by_label("Text").input_value() == "The cat sat."
    assert page.locator("#answer svg").count() == drawn


def test_the_film_is_played_by_keys_links_and_a_button(page):
    page.goto("/surprisal")
    word = page.locator(".frame:target .controls b")
    until(page, lambda: word.count() == 1)
    assert word.inner_text() == "After"
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("ArrowRight")
    until(page, lambda: word.inner_text() == "the")
    page.locator(".words a").nth(5).click()
    until(page, lambda: word.inner_text() == "doctor")
    assert page.locator(".words [aria-current] bdi").inner_text() == "doctor"
    assert page.locator(".frame:target .strip li").count() == 10
    assert page.locator(".frame:target .dies").count() > 0
    page.locator(".frame:target [rel=prev]").click()
    until(page, lambda: word.inner_text() == "the")
    page.locator(".frame:target .play").click()
    until(page, lambda: word.inner_text() == "doctor")
    page.keyboard.press("Escape")
    until(page, lambda: word.count() == 0)


@pytest.mark.parametrize("width", [PHONE, SCREEN])
@pytest.mark.parametrize("name", ["parse", "surprisal", "api"])
def test_a_page_fits_every_width_and_is_reached_by_keys(page, name, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"/{name}#none")
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    until(page, lambda: page.url.endswith("#answer"))


def test_pages_work_without_script(browser, address):
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/parse")
    page.get_by_label("Text").fill("The cat sat.")
    page.get_by_role("button", name="Parse").click()
    # a click does not wait for the page that it asks for
    page.wait_for_url("**/parse?text=The+cat+sat.*")
    assert page.locator("#answer svg").count() == 1
    page.goto("/surprisal")
    page.locator(".words a").nth(5).click()
    assert page.locator(".frame:visible .controls b").inner_text() == "doctor"
    context.close()
