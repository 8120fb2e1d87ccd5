"""The small network of a case: refused without leave, there while its page runs, and nothing else can be reached."""

import socket
import threading
import urllib.request
from urllib.error import URLError

import pytest

from burnish.commands.page import build_request
from burnish.errors import SetupProblem
from burnish.events import PageObserved
from burnish.models.scripted import ScriptedModel
from burnish.pages.attempt import start_page
from burnish.pages.headless import HeadlessPage
from burnish.pages.page import PageLimits, PageTools
from burnish.pages.rubric import load_case
from burnish.runs import Store
from burnish.runs.attempt import Resources
from tests.pages.fake_page import FakePage, seen
from tests.support import block

SCAN = load_case("scan")


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/", timeout=2) as response:
            return bool(response.status == 200)
    except URLError:
        return False


def test_a_case_that_needs_the_network_is_refused_in_ones_own_browser_without_leave(store: Store) -> None:
    with pytest.raises(SetupProblem) as caught:
        build_request("", "scripted:demo", case="scan", headless=False, store=store)
    assert all(target in str(caught.value) for target in SCAN.targets)
    assert "--grant" in str(caught.value)
    assert store.list() == []


@pytest.mark.parametrize(("headless", "grant"), [(True, False), (False, True)])
def test_with_leave_or_headless_it_may_reach_what_the_case_names(store: Store, headless: bool, grant: bool) -> None:
    request = build_request("", "scripted:demo", case="scan", headless=headless, grant=grant, store=store)
    assert request.page
    assert request.page.targets == SCAN.targets


def test_in_ones_own_browser_the_servers_of_a_case_answer_while_its_page_runs_and_not_after(store: Store) -> None:
    during = dict[str, bool]()

    def run(code: str) -> PageObserved:
        during.update({server: answers(server) for server in (*SCAN.servers, "127.0.0.2:3001")})
        return seen(canvas="moving")

    request = build_request("", "scripted:demo", case="scan", headless=False, grant=True, store=store)
    model = ScriptedModel([block("draw();", "js")])
    done = start_page(request, Resources((model,), store), FakePage(run).open).wait()
    assert done.verdict == "plausible"
    assert during == {**dict.fromkeys(SCAN.servers, True), "127.0.0.2:3001": False}
    assert not any(map(answers, SCAN.servers))


def test_where_an_address_of_a_case_is_taken_that_is_said_before_the_first_call(store: Store) -> None:

    host, _, port = SCAN.servers[0].partition(":")
    model = ScriptedModel([block("draw();", "js")])
    request = build_request("", "scripted:demo", case="scan", headless=False, grant=True, store=store)
    with socket.create_server((host, int(port))), pytest.raises(SetupProblem, match=SCAN.servers[0]):
        start_page(request, Resources((model,), store), FakePage().open).wait()
    assert model.asked == []
    assert not any(map(answers, SCAN.servers)), "those that were open by then are closed"


@pytest.mark.browser
@pytest.mark.parametrize(("targets", "reached"), [(SCAN.targets, "ok"), (("127.0.0.3:*",), "no"), ((), "no")])
def test_a_headless_page_reaches_the_servers_of_its_case_only_where_they_are_granted(
    targets: tuple[str, ...], reached: str
) -> None:
    tools = PageTools(log=len, done=len, give_up=len, ask=str)
    page = HeadlessPage(tools, PageLimits(settle_seconds=0.5), targets, threading.Event(), SCAN.servers)
    code = "try { return (await (await fetch('http://127.0.0.2:3000/')).text()).trim(); } catch { return 'no'; }"
    try:
        assert page.run(code, 1).value == f'"{reached}"'
    finally:
        page.close()
