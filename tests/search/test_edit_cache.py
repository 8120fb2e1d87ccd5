"""Small edits that were found are kept for whoever shares them, and for nobody else."""

import threading
from concurrent.futures import ThreadPoolExecutor

from burnish.search.edits import EditCache, SearchResult

KEY = ("def f(): ...", "f", "assert f()")


class Search:
    """Counts how often it was begun."""

    def __init__(self, in_peace: bool = True) -> None:
        self.begun, self.in_peace = 0, in_peace

    def __call__(self) -> tuple[SearchResult, bool]:
        self.begun += 1
        threading.Event().wait(0.01)
        return (["edit"], 3), self.in_peace


def test_what_was_found_is_not_searched_for_again_not_even_by_many_at_once() -> None:
    edits, search = EditCache(), Search()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: edits.find_or_search(KEY, search), range(8))) == [(["edit"], 3)] * 8
    assert search.begun == 1
    edits.find_or_search(("other", "f", ""), search)
    assert search.begun == 2


def test_a_search_that_was_cut_short_is_made_again() -> None:
    edits, search = EditCache(), Search(in_peace=False)
    edits.find_or_search(KEY, search)
    edits.find_or_search(KEY, search)
    assert search.begun == 2


def test_each_has_its_own() -> None:
    search = Search()
    EditCache().find_or_search(KEY, search)
    EditCache().find_or_search(KEY, search)
    assert search.begun == 2
