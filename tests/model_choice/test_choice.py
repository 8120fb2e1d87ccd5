"""Who answers when the choice is left open: free before paid, known before hoped for, and always with a reason."""

import random
from itertools import permutations

import pytest

from burnish.model_choice import ChoiceReason, ModelCandidate, TrackRecord, estimate_share, pick_models
from burnish.models.catalog import DEFAULT_MODEL
from tests.snapshots import assert_snapshot

TINY = ModelCandidate(name="local:coder-0.5b", strength="small")
LOCAL = ModelCandidate(name="local:coder-1.5b", strength="middle")
TWIN = ModelCandidate(name="ollama:coder:1.5b", strength="middle", where="server")
LARGE = ModelCandidate(name="ollama:coder:14b", strength="strong", where="server")
MINI = ModelCandidate(name="openai:coder-mini", strength="middle", where="server", dollars=0.6)
CLOUD = ModelCandidate(name="openai:coder", strength="strong", where="server", dollars=10.0)
DEARER = ModelCandidate(name="anthropic:coder", strength="strong", where="server", dollars=15.0)
UNPRICED = ModelCandidate(name="lab:coder", strength="strong", where="server", dollars=None)


def did(proven: int, runs: int) -> TrackRecord:
    return TrackRecord(runs=runs, proven=proven)


def test_where_nothing_is_there_it_is_the_default_and_its_download_is_said() -> None:
    choice = pick_models([], {})
    assert choice.names == DEFAULT_MODEL
    assert choice.reason is ChoiceReason.NOTHING_THERE
    assert "1,117 MB" in choice.why


def test_the_only_one_that_is_there_is_taken_whatever_it_did() -> None:
    choice = pick_models([TINY], {TINY.name: did(0, 30)})
    assert choice.names == TINY.name
    assert "0 of 30" in choice.why


def test_the_reason_is_one_plain_sentence_with_its_figures() -> None:
    choice = pick_models([LOCAL, TWIN], {LOCAL.name: did(14, 18)})
    assert choice.names == LOCAL.name
    assert choice.reason is ChoiceReason.BEST
    assert_snapshot(choice.why, "model_choice/best-with-figures")


def test_what_costs_money_is_never_chosen_unasked() -> None:
    good = {CLOUD.name: did(50, 50), UNPRICED.name: did(50, 50)}
    choice = pick_models([TINY, CLOUD, UNPRICED], good | {TINY.name: did(0, 50)})
    assert choice.names == TINY.name
    alone = pick_models([CLOUD], good)
    assert alone.names == DEFAULT_MODEL
    assert alone.reason is ChoiceReason.NOTHING_FREE


def test_where_money_may_be_spent_the_free_one_still_goes_first() -> None:
    choice = pick_models([LOCAL, CLOUD], {}, may_spend=True)
    assert choice.names == f"{LOCAL.name},{CLOUD.name}"
    assert choice.reason is ChoiceReason.CHEAPER_FIRST
    assert "10 dollars" in choice.why


def test_of_two_that_promise_the_same_the_cheaper_is_taken_and_a_lighter_one_goes_first() -> None:
    assert pick_models([DEARER, CLOUD], {}, may_spend=True).names == CLOUD.name
    assert pick_models([DEARER, CLOUD, MINI], {}, may_spend=True).names == f"{MINI.name},{CLOUD.name}"


def test_a_model_of_unknown_price_is_the_last_of_equals() -> None:
    assert pick_models([UNPRICED, DEARER], {}, may_spend=True).names == DEARER.name


def test_a_small_one_goes_first_and_a_large_one_helps() -> None:
    assert pick_models([LOCAL, LARGE], {}).names == f"{LOCAL.name},{LARGE.name}"


def test_where_only_one_is_asked_only_one_is_chosen_and_the_other_is_named_as_what_it_is() -> None:
    choice = pick_models([LOCAL, LARGE], {}, alone=True)
    assert choice.names == LOCAL.name
    assert_snapshot(choice.why, "model_choice/one-is-asked")


def test_one_that_is_known_to_be_good_goes_first_and_one_that_promises_more_helps() -> None:
    choice = pick_models([LOCAL, LARGE], {LOCAL.name: did(14, 18)})
    assert choice.names == f"{LOCAL.name},{LARGE.name}"
    assert choice.reason is ChoiceReason.LARGER_HELPS


def test_one_that_fails_mostly_is_not_asked_first() -> None:
    assert pick_models([LOCAL, LARGE], {LOCAL.name: did(1, 20)}).names == LARGE.name


def test_a_large_one_that_did_badly_here_is_no_help() -> None:
    assert pick_models([LOCAL, LARGE], {LARGE.name: did(1, 20), LOCAL.name: did(14, 18)}).names == LOCAL.name


def test_two_of_one_size_are_no_pair() -> None:
    assert "," not in pick_models([LOCAL, TWIN], {}).names


def test_a_single_failure_does_not_decide() -> None:
    assert pick_models([LOCAL, TINY], {LOCAL.name: did(0, 1)}).names.endswith(LOCAL.name)


def test_evaluations_count_but_however_many_tasks_they_have_never_more_than_twenty() -> None:
    few, many = (TrackRecord(tasks=n, solved=n * 0.9) for n in (20, 500))
    assert estimate_share(LOCAL, few).expected == pytest.approx(estimate_share(LOCAL, many).expected)
    assert estimate_share(LOCAL, few).expected > estimate_share(LOCAL, None).expected
    assert "450 of 500" in pick_models([LOCAL], {LOCAL.name: many}).why


def test_more_of_the_same_makes_it_surer() -> None:
    shares = [estimate_share(LOCAL, did(3 * n, 4 * n)).sure for n in range(30)]
    assert shares == sorted(shares)
    assert all(estimate_share(LOCAL, did(n, n)).sure < 1 for n in range(100))


def test_a_model_made_for_code_is_preferred_to_one_for_talk() -> None:
    talk = ModelCandidate(name="local:a-talker-1.5b", strength="middle")
    assert pick_models([talk, LOCAL], {}).names == LOCAL.name


def test_the_order_in_which_they_are_found_does_not_matter() -> None:
    dice = random.Random(0)
    found = [LOCAL, TWIN, LARGE, CLOUD]
    for _ in range(20):
        record = {one.name: did(min(a, b), max(a, b)) for one in found for a, b in [dice.choices(range(12), k=2)]}
        assert len({pick_models(order, record, may_spend=True) for order in permutations(found)}) == 1


def test_the_smallest_goes_first_only_once_it_did_well_here() -> None:
    assert pick_models([TINY, LOCAL], {}).names == LOCAL.name
    assert pick_models([TINY, LOCAL], {TINY.name: did(9, 12)}).names == f"{TINY.name},{LOCAL.name}"
