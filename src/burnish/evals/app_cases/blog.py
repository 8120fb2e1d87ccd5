"""Posts that everybody reads and only their author changes, with comments under them."""

from contextlib import suppress

from burnish.evals.app_cases.app_user import EDIT, AppUser, Missed, Thing, Wish, require
from burnish.evals.app_cases.case import AppCase, Scene
from burnish.evals.app_cases.everywhere import ACCOUNTS, LISTING, USING

BODY = Wish(("body", "text", "content", "post", "article"), ("textarea",))
POST = Thing(
    ("posts", "all posts", "articles", "blog", "post", "entries"),
    Wish(("title", "headline", "subject", "name")),
    {BODY: "First words.\n\nLast words."},
)
COMMENT = Wish(("comment", "text", "body", "message", "reply", "content"), ("textarea", "text"))


def try_to_comment(person: AppUser, post: str, text: str) -> list[str]:
    """Comment on a post from its page; what the app complains of comes back."""
    person.open_row(POST, post)
    if not person.can_write:
        person.open("add comment", "new comment", "write a comment", "comment", "reply", "add")
    return person.fill_in({COMMENT: text})


def comment(person: AppUser, post: str, text: str) -> None:
    """Raises Missed where the app refuses."""
    complaints = try_to_comment(person, post, text)
    require(not complaints, f"a comment was refused: {complaints[:1]}")


def has_comment(person: AppUser, post: str, text: str) -> bool:
    """Whether the page of a post shows it."""
    person.open_row(POST, post)
    return text in person.main.text


def read_as_stranger(scene: Scene) -> None:
    """Who is not logged in may read a post, whole."""
    person, title = scene.call_member(), scene.make_title()
    person.add(POST, title)
    stranger = scene.call_stranger()
    stranger.open_row(POST, title)
    shown = stranger.main.text
    require("First words." in shown and "Last words." in shown, "a stranger does not see the whole post")


def put_newest_first(scene: Scene) -> None:
    """The newest post is above the older ones."""
    person, old, new = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(POST, old)
    person.add(POST, new)
    person.open_list(POST)
    require(person.main.text.find(new) < person.main.text.find(old), "an older post is above a newer one")


def keep_typed_text(scene: Scene) -> None:
    """Who forgets the title is told so, and need not type the text again."""
    person, words = scene.call_member(), scene.make_title()
    require(person.try_to_add(POST, "", {BODY: words}), "a post without a title was accepted")
    require(words in person.get_form().values.values(), "the text must be typed again")


def show_comment_under_its_post(scene: Scene) -> None:
    """A comment is under its post, and under no other."""
    person, post, other, text = scene.call_member(), scene.make_title(), scene.make_title(), scene.make_title()
    person.add(POST, post)
    person.add(POST, other)
    comment(person, post, text)
    require(has_comment(person, post, text), "a comment is not under its post")
    require(not has_comment(person, other, text), "a comment is under another post")


def comment_on_others(scene: Scene) -> None:
    """A second member may comment on a post, and everybody sees it, strangers too."""
    author, reader, post, text = scene.call_member(0), scene.call_member(1), scene.make_title(), scene.make_title()
    author.add(POST, post)
    comment(reader, post, text)
    require(has_comment(author, post, text), "the author does not see what somebody has commented")
    require(has_comment(scene.call_stranger(), post, text), "a stranger does not see the comments")


def keep_order_of_comments(scene: Scene) -> None:
    """Two comments under a post are both there."""
    person, post, texts = scene.call_member(), scene.make_title(), (scene.make_title(), scene.make_title())
    person.add(POST, post)
    for text in texts:
        comment(person, post, text)
    require(all(has_comment(person, post, text) for text in texts), "of two comments one is missing")


def refuse_empty_comment(scene: Scene) -> None:
    """A comment without a word is refused."""
    person, post = scene.call_member(), scene.make_title()
    person.add(POST, post)
    require(try_to_comment(person, post, ""), "an empty comment was accepted")


def show_markup_in_comments(scene: Scene) -> None:
    """What looks like markup in a comment is shown as it was typed."""
    person, post, text = scene.call_member(), scene.make_title(), f"<i>{scene.make_title()}</i> <script>x</script>"
    person.add(POST, post)
    comment(person, post, text)
    require(has_comment(person, post, text), "markup in a comment is not shown as it was typed")


def let_only_authors_edit(scene: Scene) -> None:
    """Another member can change a post neither by a link nor by its address."""
    author, other, post = scene.call_member(0), scene.call_member(1), scene.make_title()
    author.add(POST, post)
    author.press(POST, post, *EDIT)
    other.goto(author.visitor.path)
    is_closed = not other.can_write or post not in other.get_form().values.values()
    require(is_closed, "another member is shown the form to change a post")
    with suppress(Missed):  # nothing beside it says so, as it should be
        other.edit(POST, post, {POST.title: f"{post} taken over"})
    require(not author.lists(POST, f"{post} taken over"), "another member has changed a post")


def let_only_authors_delete(scene: Scene) -> None:
    """Another member cannot delete a post."""
    author, other, post = scene.call_member(0), scene.call_member(1), scene.make_title()
    author.add(POST, post)
    with suppress(Missed):  # nothing beside it says so, as it should be
        other.delete(POST, post)
    require(author.lists(POST, post), "another member has deleted a post")


def delete_commented(scene: Scene) -> None:
    """A post with comments can be deleted by its author."""
    person, post = scene.call_member(), scene.make_title()
    person.add(POST, post)
    comment(person, post, scene.make_title())
    person.delete(POST, post)
    require(not person.lists(POST, post), "a post with comments cannot be deleted")


def keep_comments_over_restart(scene: Scene) -> None:
    """After a crash and a new start comments are under their posts."""
    person, post, text = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(POST, post)
    comment(person, post, text)
    scene.app.restart()
    require(has_comment(scene.call_member(), post, text), "a restart has lost a comment")


CASE = AppCase(
    "blog",
    "A blog with comments.",
    POST,
    (*ACCOUNTS, *LISTING, read_as_stranger, put_newest_first, keep_typed_text, show_comment_under_its_post)
    + (comment_on_others, keep_order_of_comments, refuse_empty_comment, show_markup_in_comments)
    + (let_only_authors_edit, let_only_authors_delete, delete_commented, keep_comments_over_restart, *USING),
)
