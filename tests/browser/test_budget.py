"""How much the pages may transfer at a first visit: bytes on the wire, headers included."""

import pytest
from playwright.sync_api import Browser

from scripts.browser_lab.relay_process import RelayProcess
from scripts.browser_lab.transfer import first_visit

pytestmark = pytest.mark.browser

BUDGET_BYTES = 150 * 1024


def test_the_room_stays_within_its_budget(browser: Browser, relay: RelayProcess) -> None:
    visit = first_visit(browser, relay.link, "#tray > li")
    assert visit.transferred_bytes(vendored=True) <= BUDGET_BYTES
    assert len(visit.bytes_of) > 30, "what was counted is the whole page"
    assert not [address for address in visit.bytes_of if "/vendor/" in address]
    assert not [address for address in visit.bytes_of if not address.startswith(relay.url)]


def test_the_dashboard_stays_within_the_rooms_budget(browser: Browser, relay: RelayProcess) -> None:
    link = relay.link.replace("/#", "/dashboard#")
    visit = first_visit(browser, link, "#connection[data-state=open]")
    assert visit.transferred_bytes(vendored=False) <= BUDGET_BYTES
    whole = visit.transferred_bytes(vendored=True)
    assert visit.transferred_bytes(vendored=False) < whole <= BUDGET_BYTES
