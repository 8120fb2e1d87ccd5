"""A sentence becomes a blueprint, a refusal or a question; what rules read for sure holds against a model."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from burnish.apps.blueprint import Blueprint, Entity
from burnish.apps.planning.plan import (
    build_change_ask,
    build_plan_ask,
    flip,
    plan_by_rules,
    read_change,
    read_plan,
    sketch_architectures,
)
from burnish.errors import SetupProblem

SENTENCES = Path("experiments/apps/sentences.txt").read_text("utf-8").splitlines()


def plan(sentence: str) -> Blueprint:
    planned = plan_by_rules(sentence)
    assert planned.blueprint, planned
    return planned.blueprint


def types_of(entity: Entity) -> dict[str, str]:
    return {field.name: field.target or field.type for field in entity.fields}


def column(name: str, kind: str = "text", *options: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "options": [*options]}


def table(name: str, *columns: dict[str, Any], belongs_to: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "columns": [*columns], "belongs_to": [*belongs_to]}


def answer(*tables: dict[str, Any]) -> str:
    return json.dumps({"title": "", "tables": [*tables]})


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_of_a_hundred_sentences_gives_an_app_or_a_refusal(sentence: str) -> None:
    planned = plan_by_rules(sentence)
    assert bool(planned.blueprint) != bool(planned.refusal)
    assert len(re.findall(r"[.]", planned.refusal)) == (0 if planned.blueprint else 2)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_switch_turns_something_and_turned_twice_nothing(sentence: str) -> None:
    planned = plan_by_rules(sentence)
    for switch in planned.blueprint.switches if planned.blueprint else ():
        assert planned.blueprint
        turned = flip(planned.blueprint, switch.id)
        assert turned.model_copy(update={"switches": ()}) != planned.blueprint.model_copy(update={"switches": ()})
        assert flip(turned, switch.id) == planned.blueprint


def test_a_switch_that_is_not_there_is_the_users_to_put_right() -> None:
    with pytest.raises(SetupProblem, match="category"):
        flip(plan("a list of plants"), "owner.moon")


def test_values_have_the_types_that_their_words_name() -> None:
    (book,) = plan(
        "a book list with title, price, number of pages, e-mail, rating from 1 to 4, bought on date"
    ).entities
    assert types_of(book) | {"title": "text", "price": "decimal", "number_of_pages": "integer"} == types_of(book)
    rating = book.field("rating")
    assert rating
    assert (rating.type, rating.minimum, rating.maximum) == ("integer", 1, 4)


@pytest.mark.parametrize(
    "sentence",
    [
        "Write me an app for managing my recipes",
        "please build a small web app where people can share recipes",
        "I want to keep track of my recipes",
        "a list of recipes",
    ],
)
def test_what_an_app_is_about_is_found_behind_the_words_around_it(sentence: str) -> None:
    assert plan(sentence).entities[0].name == "recipe"


def test_things_in_the_plural_become_entities_that_lead_to_each_other() -> None:
    owner, animal, visit = plan("a vet app with owners, animals and visits").entities
    assert (animal.references[0].target, visit.references[0].target) == (owner.name, animal.name)
    assert visit.parent


def test_who_asks_for_a_login_gets_accounts_and_sees_only_their_own() -> None:
    blueprint = plan("a plant list with login")
    assert blueprint.accounts
    assert {(one.read, one.write) for one in blueprint.entities} == {("owner", "owner")}
    shared = flip(blueprint, "owner.plant")
    assert {(one.read, one.write) for one in shared.entities} == {("members", "members")}


def test_a_bare_list_has_rows_that_can_be_done_and_no_accounts() -> None:
    blueprint = plan("a list of plants")
    assert not blueprint.accounts
    (action,) = blueprint.entities[0].actions
    assert action.changes[0].how == "toggle"
    assert len(blueprint.entities[0].views) == 2


def test_a_vague_sentence_gives_a_whole_app_whose_assumptions_are_switches() -> None:
    blueprint = plan("an app")
    assert blueprint.entities[0].fields
    assert {switch.id.partition(".")[0] for switch in blueprint.switches} >= {"accounts", "category"}


@pytest.mark.parametrize(
    ("sentence", "claimed"),
    [
        ("court reservation without double reservations", "court"),
        ("a boat rental app where nobody can rent the same boat twice at the same time, with login", "boat"),
        ("eine Saalbuchung ohne Doppelbuchungen, mit Anmeldung", "saal"),
        ("an appointment planner where appointments of the same doctor must not overlap", "doctor"),
    ],
)
def test_what_may_not_be_claimed_twice_has_a_period_and_a_rule(sentence: str, claimed: str) -> None:
    blueprint = plan(sentence)
    rules = {rule.kind: rule for rule in blueprint.entities[0].rules}
    assert {*rules} == {"in_order", "no_overlap"}
    assert rules["no_overlap"].per == (claimed,)
    assert blueprint.entity(claimed).read != "owner"  # nobody can claim what they do not see


def test_a_day_that_is_claimed_once_needs_no_period() -> None:
    blueprint = plan("a desk sharing app, no desk can be reserved twice for the same day")
    (rule,) = blueprint.entities[0].rules
    assert (rule.kind, rule.fields) == ("unique_together", ("desk", "date"))


def test_what_runs_low_is_marked_and_listed() -> None:
    (part,) = plan("a spare parts list that shows what is running out").entities
    (low,) = part.computed
    assert low.condition
    assert low.condition.operator == "<="
    assert [view.name for view in part.views] == ["low"]
    assert {action.changes[0].how for action in part.actions} == {"add"}


def test_what_is_late_is_listed_without_what_is_done() -> None:
    (bill,) = plan("a bill list with amount, due date and which ones are overdue").entities
    late = next(view for view in bill.views if view.name == "overdue")
    assert {(one.field, one.operator) for one in late.conditions} == {("due_date", "is_past"), ("paid", "=")}


def test_what_cannot_be_built_beside_an_app_is_left_out_and_said() -> None:
    blueprint = plan("a weight diary with a chart")
    assert blueprint.left_out == ("charts",)
    assert types_of(blueprint.entities[0])["weight"] == "decimal"


def test_a_german_sentence_has_german_labels_and_names_that_are_identifiers() -> None:
    exercise, rhythm = plan("eine Liste von Übungen mit Takten und Größe").entities
    assert (exercise.label, exercise.plural, exercise.name) == ("Übung", "Übungen", "uebung")
    assert types_of(exercise) == {"name": "text", "groesse": "decimal"}
    assert rhythm.parent == "uebung"
    assert [action.label for action in plan("eine Liste von Übungen").entities[0].actions] == ["Erledigt oder nicht"]


@pytest.mark.parametrize(
    "sentence",
    [
        "write me an operating system",
        "a multiplayer game",
        "a video editor",
        "a shop that takes credit cards",
        "",
        "?!",
    ],
)
def test_what_is_no_app_of_tables_is_refused_in_two_sentences(sentence: str) -> None:
    planned = plan_by_rules(sentence)
    assert planned.blueprint is None
    assert planned.refusal.count(".") == 2


@pytest.mark.parametrize("sentence", ["a board game collection", "a video list with title", "a list of payments"])
def test_what_only_sounds_like_it_is_built(sentence: str) -> None:
    assert plan(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "a list without accounts, but everyone sees only their own",
        "a public wine list, only for members",
        "notes where everyone sees only their own and everyone sees everything",
    ],
)
def test_a_contradiction_comes_back_as_a_question(sentence: str) -> None:
    for planned in (plan_by_rules(sentence), read_plan(sentence, answer(table("Wine", column("name"))))):
        assert planned.blueprint is None
        assert planned.question.endswith("?")


def test_the_question_for_a_model_is_small_and_bound_to_a_schema() -> None:
    ask = build_plan_ask("a wine list")
    assert (ask.purpose, ask.max_tokens) == ("plan", 1500)
    assert ask.read_data(answer(table("Wine", column("name"))))["tables"]
    change = build_change_ask(plan("a wine list"), "wines get a year")
    assert change.purpose == "change"
    assert "Wine" in change.messages[-1].content


def test_what_a_model_knows_fills_what_the_sentence_leaves_open() -> None:
    told = answer(
        table("Gym", column("name"), column("address")),
        table("Class", column("name"), column("weekday", "choice", "Monday", "Friday"), belongs_to=("Gym",)),
    )
    planned = read_plan("a fitness app", told)
    assert planned.blueprint
    assert {"gym", "class_entry"} <= {one.name for one in planned.blueprint.entities}
    assert planned.blueprint.entity("class_entry").references[0].target == "gym"


def test_what_rules_read_for_sure_holds_whatever_the_model_forgets_or_invents() -> None:
    told = answer(
        table("User", column("id", "integer"), column("password")),
        table("Wine", column("id", "integer"), column("title"), column("created_at", "date_time"), column("user_id")),
    )
    planned = read_plan("a wine list with login that shows what is running out", told)
    assert planned.blueprint
    assert planned.blueprint.accounts
    (wine,) = planned.blueprint.entities
    assert types_of(wine) == {"title": "text", "quantity": "integer", "minimum_quantity": "integer"}
    assert wine.computed


def test_the_same_thing_under_another_name_is_one_and_keys_to_nowhere_go() -> None:
    told = answer(
        table(
            "FuelLog",
            column("id", "integer"),
            column("vehicle_id", "integer"),
            column("litres", "decimal"),
            column("km"),
        ),
        table("Weather", column("name")),
    )
    planned = read_plan("a fuel log", told)
    assert planned.blueprint
    types = types_of(planned.blueprint.entities[0])
    assert types == {"date": "date", "litres": "decimal", "km": "decimal", "notes": "long_text"}
    assert "vehicle" not in {one.name for one in planned.blueprint.entities}


def test_columns_that_nobody_asked_for_are_not_added_to_those_that_were_named() -> None:
    told = answer(table("Wine", column("vintage", "date"), column("grape"), column("systolic", "integer")))
    planned = read_plan("a wine list with vintage, systolic", told)
    assert planned.blueprint
    assert types_of(planned.blueprint.entities[0]) == {"name": "text", "vintage": "integer", "systolic": "integer"}


def test_keys_circles_and_choices_without_options_are_repaired() -> None:
    told = answer(
        table("Egg", column("hen_id", "integer"), column("size", "choice"), belongs_to=("Hen",)),
        table("Hen", column("name"), belongs_to=("Egg",)),
    )
    planned = read_plan("a poultry app", told)
    assert planned.blueprint
    egg, hen = planned.blueprint.entity("egg"), planned.blueprint.entity("hen")
    assert types_of(egg)["hen"] == "hen"
    assert types_of(egg)["size"] != "choice"
    assert not all(field.required for one in (egg, hen) for field in one.references)


def test_more_than_an_app_can_hold_is_cut_and_said() -> None:
    things = ", ".join(f"{word}s" for word in ["hat", "cat", "bat", "wall", "ball", "fall", "hill", "mill", "pill"])
    blueprint = plan(f"a thing app with {things} and dolls")
    assert len(blueprint.entities) == 8
    assert blueprint.left_out


@pytest.mark.parametrize("nothing", ["", "I cannot do that.", '{"title": "x"}', "null"])
def test_an_answer_that_is_nothing_leaves_the_rules(nothing: str) -> None:
    assert read_plan("a wine list", nothing) == plan_by_rules("a wine list")


def test_of_an_answer_that_was_cut_the_whole_tables_are_taken() -> None:
    whole = answer(table("Gym", column("name")), table("Class", column("name"), belongs_to=("Gym",)))
    planned = read_plan("a fitness app", whole[: whole.index('"Class"') + 30])
    assert planned.blueprint
    assert "gym" in {one.name for one in planned.blueprint.entities}


def test_a_follow_up_changes_only_what_it_says() -> None:
    before = plan("a recipe app with ingredients, with login")
    after = read_change(before, "recipes get a due date and can be sorted by it").blueprint
    assert after
    assert after.entities[1:] == before.entities[1:]
    assert after.entities[0].fields[:-1] == before.entities[0].fields
    assert after.entities[0].fields[-1].type == "date"
    assert after.entities[0].sort == after.entities[0].fields[-1].name


@pytest.mark.parametrize(
    ("sentence", "entities", "fields"),
    [
        ("wines have a price and a rating", {"wine"}, {"price", "rating"}),
        ("each wine has tastings", {"wine", "tasting"}, set()),
        ("add a category", {"wine", "category"}, {"category"}),
        ("wines can be marked as empty", {"wine"}, {"empty"}),
        ("show what is running out", {"wine"}, {"quantity", "minimum_quantity"}),
    ],
)
def test_follow_ups_are_understood_without_a_model(sentence: str, entities: set[str], fields: set[str]) -> None:
    before = plan("a wine list")
    after = read_change(before, sentence).blueprint
    assert after
    assert {one.name for one in after.entities} == entities
    assert {*types_of(after.entities[0])} - {*types_of(before.entities[0])} == fields


def test_what_goes_takes_with_it_what_leaned_on_it() -> None:
    before = plan("a wine list")
    after = read_change(before, "remove done").blueprint
    assert after
    assert not after.entities[0].actions + after.entities[0].views
    assert not next(switch.on for switch in after.switches if switch.id == "done.wine")
    assert flip(after, "done.wine") == before


def test_a_new_name_is_a_label_and_data_stays() -> None:
    before = plan("a wine list")
    after = read_change(before, "rename wines to bottles").blueprint
    assert after
    assert (after.entities[0].name, after.entities[0].plural) == ("wine", "Bottles")


def test_a_model_helps_with_a_follow_up_that_rules_do_not_understand() -> None:
    before = plan("a wine list")
    told = answer(table("Wine", column("region")))
    after = read_change(before, "make it useful for collectors", told).blueprint
    assert after
    assert {*types_of(after.entities[0])} - {*types_of(before.entities[0])} == {"region"}


def test_a_follow_up_that_changes_nothing_says_so() -> None:
    planned = read_change(plan("a wine list"), "make it pretty")
    assert planned.blueprint is None
    assert planned.refusal


def test_two_architectures_have_the_figures_of_the_blueprint() -> None:
    blueprint = plan("a recipe app with ingredients, with login")
    built, other = sketch_architectures(blueprint)
    assert (built.is_built, other.is_built) == (True, False)
    assert built.modules == ("shell", "accounts", "recipe", "ingredient", "app")
    assert built.files < sketch_architectures(plan("a vet app with owners, animals and visits"))[1].files


def test_whatever_a_model_answers_what_comes_out_can_be_built_and_changed() -> None:
    draw = random.Random(0)
    words = ["user", "id", "title", "wine_id", "dueDate", "is_done", "status", "created_at", "Größe", "self", "class"]
    words += ["csrf", "low", "done", "<b>", "'", "日本"]
    kinds = ["text", "integer", "yes_no", "date", "choice", "email"]

    def invent(word: str) -> dict[str, Any]:
        columns = [
            column(draw.choice(words), draw.choice(kinds), *draw.sample(words, draw.randint(0, 3))) for _ in word
        ]
        return table(word, *columns[:5], belongs_to=(draw.choice(words),))

    for _ in range(150):
        told = answer(*map(invent, draw.sample(words, draw.randint(0, 3))))
        planned = read_plan(draw.choice(SENTENCES), told)
        if planned.blueprint:
            asked = draw.choice(
                ["each {} has steps", "remove {}", "rename {} to hats", "without double {}", "make {} nice"]
            )
            read_change(planned.blueprint, asked.format(draw.choice(words)), told)


@pytest.mark.parametrize("sentence", ["a list of books to lend", "a list of books to buy, with login"])
def test_what_is_done_to_a_thing_is_no_part_of_its_name(sentence: str) -> None:
    planned = plan_by_rules(sentence)
    assert planned.blueprint
    assert [one.name for one in planned.blueprint.entities] == ["book"]


def test_what_is_for_a_team_is_for_all_of_it_until_its_switch_is_turned() -> None:
    planned = plan_by_rules("a list of errands for a team, with login")
    assert planned.blueprint
    (errand,) = planned.blueprint.entities
    (own,) = flip(planned.blueprint, f"owner.{errand.name}").entities
    assert [(one.read, one.write) for one in (errand, own)] == [("members", "members"), ("owner", "owner")]


@pytest.mark.parametrize(("sentence", "is_public"), [("a journal with replies", True), ("a journal with tags", False)])
def test_where_people_answer_what_is_published_everyone_reads_and_only_who_wrote_changes(
    sentence: str, is_public: bool
) -> None:
    blueprint = plan_by_rules(sentence).blueprint
    assert blueprint
    rights = ("everyone", "owner" if is_public else "everyone")
    assert blueprint.accounts == is_public
    assert {(one.read, one.write) for one in blueprint.entities} == {rights}
    other = flip(blueprint, "accounts")
    assert other.accounts != is_public
    assert flip(other, "accounts").entities == blueprint.entities


def test_an_answer_is_its_text_whatever_a_model_adds_and_there_is_one_text_of_each() -> None:
    told = answer(
        table("Journal", column("title"), column("content", "long_text"), column("day", "date")),
        table(
            "Reply", column("author"), column("content", "long_text"), column("day", "date"), belongs_to=("Journal",)
        ),
    )
    blueprint = read_plan("a journal with replies", told).blueprint
    assert blueprint
    assert blueprint.accounts
    kinds = [[field.type for field in one.fields if not field.target] for one in blueprint.entities]
    assert kinds == [["text", "long_text", "date"], ["long_text"]]
    assert all(field.required for field in blueprint.entities[1].fields)


def test_a_table_that_repeats_a_wish_is_none_and_a_threshold_is_the_least() -> None:
    told = answer(
        table("Seed", column("name"), column("quantity", "integer"), column("warning_threshold", "integer")),
        table("Running low", column("seed_id", "integer"), belongs_to=("Seed",)),
    )
    blueprint = read_plan("a list of seeds that shows which are running low", told).blueprint
    assert blueprint
    (seed,) = blueprint.entities
    assert [field.name for field in seed.fields if field.type == "integer"] == ["quantity", "warning_threshold"]
    assert seed.views[0].name == "low"
