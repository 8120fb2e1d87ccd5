"""Playwright, once for all tests of a process: it cannot be begun a second time while it goes on."""

import atexit
from functools import cache
from typing import Any


@cache
def start_playwright() -> Any:
    """The one that goes on until the process ends."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    return playwright
