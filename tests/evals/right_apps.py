"""A right app for each case of `burnish eval apps`, planned by hand, and what can be broken in it.

A change of a blueprint is a path to a value; an edit of a file is a path with what stands there and what is to.
"""

from collections.abc import Mapping
from typing import Any

from burnish.apps.blueprint import Blueprint
from burnish.apps.generator.generate import generate_app

Broken = Mapping[str, tuple[str, str] | object]
"""By "task.write" in the blueprint its value; by "app/task/form.py" in the files an old text and a new one."""
TITLE = {"name": "name", "label": "Name", "type": "text"}
DONE = {
    "fields": [TITLE, {"name": "done", "label": "Done", "type": "yes_no", "required": False}],
    "actions": [{"name": "turn", "label": "Done or not", "changes": [{"field": "done", "how": "toggle"}]}],
    "views": [
        {"name": "open", "label": "Open", "conditions": [{"field": "done", "operator": "=", "value": "no"}]},
        {"name": "finished", "label": "Finished", "conditions": [{"field": "done", "operator": "=", "value": "yes"}]},
    ],
}
EVERYONE = {"read": "everyone", "write": "everyone"}
AUTHORS = {"read": "everyone", "write": "owner"}
LOW = [{"field": "quantity", "operator": "<=", "other": "minimum"}]
NUMBER = {"type": "integer", "minimum": 0}
APPS: dict[str, dict[str, Any]] = {
    "tasks": {
        "accounts": True,
        "entities": [
            {"name": "task", "label": "Task", "plural": "Tasks", **DONE, "read": "members", "write": "members"}
        ],
    },
    "todo": {"entities": [{"name": "to_do", "label": "To-do", "plural": "To-dos", **DONE, **EVERYONE}]},
    "blog": {
        "accounts": True,
        "entities": [
            {
                "name": "post",
                "label": "Post",
                "plural": "Posts",
                "fields": [
                    {"name": "title", "label": "Title", "type": "text"},
                    {"name": "text", "label": "Text", "type": "long_text"},
                ],
                "sort": "created",
                "descending": True,
                **AUTHORS,
            },
            {
                "name": "comment",
                "label": "Comment",
                "plural": "Comments",
                "fields": [
                    {"name": "post", "label": "Post", "type": "reference", "target": "post"},
                    {"name": "text", "label": "Text", "type": "long_text"},
                ],
                "parent": "post",
                **AUTHORS,
            },
        ],
    },
    "rooms": {
        "entities": [
            {"name": "room", "label": "Room", "plural": "Rooms", "fields": [TITLE], **EVERYONE},
            {
                "name": "booking",
                "label": "Booking",
                "plural": "Bookings",
                "fields": [
                    {"name": "room", "label": "Room", "type": "reference", "target": "room"},
                    {"name": "start", "label": "From", "type": "date_time"},
                    {"name": "end", "label": "To", "type": "date_time"},
                ],
                "rules": [
                    {"kind": "in_order", "fields": ["start", "end"]},
                    {"kind": "no_overlap", "fields": ["start", "end"], "per": ["room"]},
                ],
                **EVERYONE,
            },
        ]
    },
    "inventory": {
        "entities": [
            {
                "name": "item",
                "label": "Item",
                "plural": "Items",
                "fields": [
                    TITLE,
                    {"name": "quantity", "label": "Quantity", **NUMBER},
                    {"name": "minimum", "label": "Minimum", **NUMBER},
                ],
                "views": [{"name": "low", "label": "Low stock", "conditions": LOW}],
                **EVERYONE,
            }
        ]
    },
}
OTHER_WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "tasks",
        {
            "accounts": True,
            "entities": [
                {"name": "area", "label": "Area", "plural": "Areas", "fields": [TITLE], "read": "members"},
                {
                    "name": "job",
                    "label": "Task",
                    "plural": "Tasks",
                    "fields": [
                        {"name": "what", "label": "What", "type": "long_text"},
                        {"name": "due", "label": "Due", "type": "date"},
                        {"name": "area", "label": "Area", "type": "reference", "target": "area"},
                        {"name": "state", "label": "State", "type": "choice", "options": ["To do", "Finished"]}
                        | {"default": "To do"},
                    ],
                    "read": "members",
                    "write": "members",
                },
            ],
        },
    ),
    (
        "rooms",
        {
            "entities": [
                {"name": "place", "label": "Room", "plural": "Rooms", "fields": [TITLE], **EVERYONE},
                {
                    "name": "slot",
                    "label": "Reservation",
                    "plural": "Reservations",
                    "fields": [
                        {"name": "who", "label": "Who", "type": "text"},
                        {"name": "place", "label": "Room", "type": "reference", "target": "place"},
                        {"name": "start", "label": "Begins", "type": "date_time"},
                        {"name": "end", "label": "Ends", "type": "date_time"},
                    ],
                    "rules": [
                        {"kind": "in_order", "fields": ["start", "end"]},
                        {"kind": "no_overlap", "fields": ["start", "end"], "per": ["place"]},
                    ],
                    **EVERYONE,
                },
            ]
        },
    ),
)
"""Apps that are right in other words and by other means: nothing says done but a choice, an area must be chosen."""
SEARCH = ("if query.q:", "if False:")
TYPED_IS_LOST = ("first, errors=invalid.errors", "{}, errors=invalid.errors")
DELETE = "    session.delete(row)\n"
BROKEN: tuple[tuple[str, Broken, str], ...] = (
    (
        "tasks",
        {
            "task.write": "owner",
            "task.actions.0.changes.0": {"field": "done", "how": "set", "value": "yes"},
            "app/accounts.py": ("not is_password(password, account.password if account else NO_PASSWORD)", "False"),
            "app/task/service.py": SEARCH,
        },
        "finish_for_team reopen refuse_wrong_password search",
    ),
    (
        "tasks",
        {
            "task.read": "everyone",
            "app/accounts.py": (
                "session.scalar(select(Account.id).where(Account.email == email)) is not None",
                "False",
            ),
        },
        "keep_from_strangers refuse_same_address",
    ),
    (
        "todo",
        {
            "to_do.fields.0.unique": True,
            "to_do.fields.2": {"name": "place", "label": "Place", "type": "text"},
            "app/to_do/service.py": (DELETE, f"    if not row.done:\n    {DELETE}"),
            "app/pages.py": ("autoescape=True", "autoescape=False"),
            "app/to_do/form.py": ('reader.text("name")', 'reader.text("name").encode("ascii", "ignore").decode()'),
        },
        "keep_equal_ones finish_one_of_equal need_only_a_title delete_done show_markup_as_text keep_any_letters",
    ),
    (
        "blog",
        {
            "post.descending": False,
            "post.write": "members",
            "comment.fields.1.required": False,
            "app/post/routes.py": TYPED_IS_LOST,
            "app/comment/service.py": ("where(Comment.post == row_id)", "where(Comment.id > 0)"),
            "app/migrations/0001_comment.sql": ('"post" (id) ON DELETE CASCADE', '"post" (id) ON DELETE RESTRICT'),
        },
        "put_newest_first let_only_authors_edit let_only_authors_delete refuse_empty_comment keep_typed_text "
        "show_comment_under_its_post delete_commented",
    ),
    (
        "rooms",
        {
            "app/booking/routes.py": TYPED_IS_LOST,
            "app/booking/templates/rows.html": ("{{ row.start|shown }}", "soon"),
            "app/booking/service.py": ("Booking.start < form.end", "Booking.start <= form.end"),
            "app/room/service.py": (DELETE, ""),
        },
        "accept_touching keep_typed_times book delete work_in_two_tabs",
    ),
    (
        "rooms",
        {"booking.rules": [{"kind": "in_order", "fields": ["start", "end"]}], "app/room/service.py": SEARCH},
        "refuse_same_time refuse_later_overlap refuse_earlier_overlap refuse_inside refuse_around "
        "refuse_moving_onto_another move_within_itself refuse_who_comes_second keep_typed_times refuse_after_restart "
        "search",
    ),
    (
        "inventory",
        {
            "item.views.0.conditions.0.operator": "<",
            "item.fields.1.minimum": None,
            "app/item/service.py": ("row.minimum = form.minimum", "row.minimum = row.minimum or form.minimum"),
            "app/item/templates/rows.html": ("{{ row.quantity", "{{ row.minimum"),
            "app/item/form.py": ('reader.text("name")', 'reader.text("name").encode("ascii", "ignore").decode()'),
        },
        "list_what_is_at refuse_negative keep_typed follow_the_minimum show_quantity keep_any_letters",
    ),
    (
        "tasks",
        {
            "task.read": "owner",
            "task.write": "owner",
            "app/accounts.py": ("session.execute(delete(Login).where(Login.id == hash_session(request)))", "pass"),
        },
        "share_with_team finish_for_team log_out",
    ),
    (
        "todo",
        {
            "to_do.views.1.conditions.0.value": "no",
            "to_do.fields.0.required": False,
            "app/to_do/service.py": ("row.name = form.name", "row.name = row.name or form.name"),
        },
        "begin_open finish reopen stay_done follow_in_other_tab refuse_empty edit",
    ),
    ("blog", {"post.read": "members"}, "read_as_stranger comment_on_others"),
    (
        "rooms",
        {
            "app/booking/service.py": ("not form.start < form.end", "False"),
            "app/booking/routes.py": ("service.delete(session, service.get(session, row_id))", "pass"),
        },
        "refuse_end_before_start free_when_deleted",
    ),
    (
        "inventory",
        {
            "item.views.0.conditions": [{"field": "quantity", "operator": "<", "value": "3", "other": ""}],
            "app/item/service.py": ("row.quantity = form.quantity", "row.quantity = row.quantity or form.quantity"),
        },
        "list_what_is_below list_what_is_at compare_as_numbers follow_the_minimum enter_when_used_up "
        "leave_when_refilled follow_in_other_tab",
    ),
    (
        "inventory",
        {
            "item.views.0.conditions": [{"field": "quantity", "operator": ">=", "value": "0", "other": ""}],
            "item.fields.1.minimum": 1,
        },
        "leave_out_what_is_above compare_as_numbers leave_when_refilled follow_in_other_tab keep_low_over_restart "
        "list_what_is_gone",
    ),
)
BAD_LOOKS: Broken = {
    "app/static/app.css": ("color-scheme: light dark;", "color-scheme: light; min-width: 900px;"),
    "app/to_do/templates/form.html": ('<button class="primary">', '<button class="primary" tabindex="-1">'),
    "app/to_do/templates/list.html": ('<label for="q">Search</label>', ""),
    "app/templates/base.html": ("</body>", '<script src="https://example.org/count.js"></script></body>'),
}
UNSEEN = "darken fit_a_phone work_by_keyboard speak_to_screen_readers be_quiet"


def plan_app(data: dict[str, Any]) -> Blueprint:
    return Blueprint.model_validate({"title": "A right app", "sentence": "a right app", **data})


def make_right_app(name: str, broken: Broken | None = None) -> dict[str, str]:
    """The files of an app that does all that a person wants, but for what is broken."""
    blueprint = plan_app(APPS[name]).model_dump(mode="json")
    entities = {one["name"]: one for one in blueprint["entities"]}
    edits: dict[str, tuple[str, str]] = {}
    for path, value in (broken or {}).items():
        if path.startswith("app/"):
            assert isinstance(value, tuple)
            edits[path] = value
            continue
        entity, *keys, last = path.split(".")
        place: Any = entities[entity]
        for key in keys:
            place = place[int(key) if key.isdigit() else key]
        if last.isdigit():
            place[int(last) : int(last) + 1] = [value]
        else:
            place[last] = value
    files = generate_app(Blueprint.model_validate(blueprint))
    for path, (old, new) in edits.items():
        assert old in files[path], (path, old)
        files[path] = files[path].replace(old, new)
    return files
