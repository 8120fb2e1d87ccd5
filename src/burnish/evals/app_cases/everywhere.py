"""What a person tries in any app: its list, its forms, its accounts, and what it is like to use."""

from contextlib import suppress

from burnish.apps.judging.served_app import Client
from burnish.evals.app_cases.app_user import (
    DELETE,
    EDIT,
    LOG_IN,
    LOG_OUT,
    PASSWORD_TYPED,
    REGISTER,
    AppUser,
    Missed,
    Wish,
    choose_control,
    require,
)
from burnish.evals.app_cases.case import AppCheck, Scene

NARROW, WIDE = 375, 1280


def welcome(scene: Scene) -> None:
    """The first page has a title and a heading, and something to do."""
    person = scene.call_member()
    require(person.visitor.status == 200, f"the first page answers {person.visitor.status}")
    for tag in ("title", "h1"):
        require(any(one.text for one in person.page.root.find(tag)), f"the first page has no {tag}")
    person.begin_to_add(scene.thing)


def add(scene: Scene) -> None:
    """What somebody adds is in the list."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    require(person.lists(scene.thing, title), f"{title!r} was added and is not in the list")


def keep_each(scene: Scene) -> None:
    """Three that are added one after the other are all there."""
    person, titles = scene.call_member(), [scene.make_title() for _ in range(3)]
    for title in titles:
        person.add(scene.thing, title)
    person.open_list(scene.thing)
    require(all(person.find_rows(title) for title in titles), "not all of three are in the list")


def show(scene: Scene) -> None:
    """A row leads to a page of its own, which names it."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    person.open_row(scene.thing, title)
    require(person.visitor.status == 200 and title in person.main.text, f"the page of {title!r} does not name it")


def edit(scene: Scene) -> None:
    """A title can be changed: the new one is shown, the old one is gone."""
    person, title, other = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(scene.thing, title)
    complaints = person.edit(scene.thing, title, {scene.thing.title: other})
    require(not complaints, f"a new title was refused: {complaints[:1]}")
    require(person.lists(scene.thing, other), "the new title is not in the list")
    require(not person.lists(scene.thing, title), "the old title is still in the list")


def delete(scene: Scene) -> None:
    """What is deleted is gone, and nothing else is."""
    person, title, other = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(scene.thing, title)
    person.add(scene.thing, other)
    person.delete(scene.thing, title)
    require(not person.lists(scene.thing, title), "what was deleted is still in the list")
    require(person.lists(scene.thing, other), "something else was deleted too")


def refuse_empty(scene: Scene) -> None:
    """Without a title nothing is added, and that is said beside the field."""
    person = scene.call_member()
    person.open_list(scene.thing)
    before = len(person.find_rows())
    require_refusal_beside(person, person.try_to_add(scene.thing, ""), scene.thing.title)
    person.open_list(scene.thing)
    require(len(person.find_rows()) == before, "something without a title was added")


def require_refusal_beside(person: AppUser, complaints: list[str], wish: Wish) -> None:
    """The form is shown again, and says at the field what is wrong with it."""
    require(complaints, f"nothing says that {wish.words[0]!r} is wrong")
    control = choose_control(person.controls, wish)
    is_beside = control and any(one in control.description for one in complaints)
    require(is_beside, f"what is wrong is not said beside {wish.words[0]!r}")


def show_markup_as_text(scene: Scene) -> None:
    """What looks like markup is shown as it was typed."""
    person, title = scene.call_member(), f'<b>{scene.make_title()}</b> & "so" <script>x</script>'
    person.add(scene.thing, title)
    require(person.lists(scene.thing, title), "markup is not shown as it was typed")


def keep_any_letters(scene: Scene) -> None:
    """Letters of other scripts and emoji stay what they are."""
    person, title = scene.call_member(), f"{scene.make_title()} Žluťoučký 買い物 🥑"
    person.add(scene.thing, title)
    require(person.lists(scene.thing, title), "letters of another script are not shown as they were typed")


def search(scene: Scene) -> None:
    """Somebody who types a part of a title into the search field sees that row and not the others."""
    person, title, other = scene.call_member(), scene.make_title(), scene.make_title()
    person.add(scene.thing, title)
    person.add(scene.thing, other)
    person.search(scene.thing, title[2:])
    require(person.find_rows(title), "what was searched for is not found")
    require(not person.find_rows(other), "the search shows what was not searched for")


def survive_restart(scene: Scene) -> None:
    """After a crash and a new start everything is there."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    scene.app.restart()
    require(scene.call_member().lists(scene.thing, title), "a restart has lost something")


def work_without_javascript(scene: Scene) -> None:
    """With plain links and forms one can add and see it."""
    person, title = AppUser(Client(scene.app), scene.call_member().email), scene.make_title()
    if person.email:
        person.log_in()
    person.add(scene.thing, title)
    require(person.lists(scene.thing, title), "without JavaScript nothing is added")


def work_in_two_tabs(scene: Scene) -> None:
    """What is added in one tab is in the other; what was deleted there gives a plain answer here."""
    here, title = scene.call_member(), scene.make_title()
    here.add(scene.thing, title)
    there = here.open_tab()
    require(there.lists(scene.thing, title), "the second tab does not show what the first has added")
    here.delete(scene.thing, title)
    there.use((*EDIT, *DELETE), there.get_row(title))
    require(there.visitor.status < 500, f"what is gone answers {there.visitor.status}")
    require(not there.lists(scene.thing, title), "the second tab shows what the first has deleted")


def answer_wrong_addresses(scene: Scene) -> None:
    """An address that leads nowhere says so."""
    person = scene.call_member()
    person.goto("/no/such/page")
    require(person.visitor.status == 404, f"a wrong address answers {person.visitor.status}")
    require(person.page.text, "a wrong address shows an empty page")


def fit_a_phone(scene: Scene) -> None:
    """List, form and page fit a telephone and a desk without scrolling sideways, long words too."""
    person, title = scene.call_member(), f"{scene.make_title()} {'long' * 25}"
    tab = scene.show_tab(person)
    person.add(scene.thing, title)
    for width in (NARROW, WIDE):
        tab.resize(width)
        for come in (person.open_list, person.begin_to_add):
            come(scene.thing)
            require(tab.overflow <= 0, f"{person.visitor.path} is {tab.overflow} pixels wider than {width}")
    tab.resize(NARROW)
    person.open_row(scene.thing, title)
    overflow = tab.overflow
    tab.resize(WIDE)
    require(overflow <= 0, f"the page of a row is {overflow} pixels wider than {NARROW}")


def work_by_keyboard(scene: Scene) -> None:
    """The Tab key reaches everything in list and form, and one sees where one is."""
    person = scene.call_member()
    tab = scene.show_tab(person)
    person.add(scene.thing, scene.make_title())
    for come in (person.open_list, person.begin_to_add):
        come(scene.thing)
        unreached = tab.find_unreached()
        require(not unreached, f"{person.visitor.path}: {unreached[:3]}")


def speak_to_screen_readers(scene: Scene) -> None:
    """Every control in list, form and page has a name."""
    person, title = scene.call_member(), scene.make_title()
    tab = scene.show_tab(person)
    person.add(scene.thing, title)
    for come in (person.open_list, person.begin_to_add):
        come(scene.thing)
        require(not tab.find_unnamed(), f"{person.visitor.path}: {tab.find_unnamed()[:3]}")
    person.open_row(scene.thing, title)
    require(not tab.find_unnamed(), f"{person.visitor.path}: {tab.find_unnamed()[:3]}")


def darken(scene: Scene) -> None:
    """Pages are dark where the system is, and light where it is not."""
    tab = scene.show_tab(scene.call_member())
    require(tab.measure_brightness("light") > 0.5, "the page is dark where the system is light")
    require(tab.measure_brightness("dark") < 0.5, "the page is light where the system is dark")


def be_quiet(scene: Scene) -> None:
    """In all that was tried, the browser had nothing to complain of, and nobody else was asked for anything."""
    scene.show_tab(scene.call_member())
    assert scene.browser
    require(not scene.browser.problems, f"the browser says {scene.browser.problems[:3]}")


LISTING: tuple[AppCheck, ...] = (
    welcome,
    add,
    keep_each,
    show,
    edit,
    delete,
    refuse_empty,
    show_markup_as_text,
    keep_any_letters,
    search,
)
USING: tuple[AppCheck, ...] = (
    survive_restart,
    work_without_javascript,
    work_in_two_tabs,
    answer_wrong_addresses,
    fit_a_phone,
    work_by_keyboard,
    speak_to_screen_readers,
    darken,
    be_quiet,
)


def register(scene: Scene) -> None:
    """A stranger makes an account and is inside."""
    person = scene.call_stranger()
    complaints = person.register("newcomer@example.org")
    require(not complaints, f"an account was refused: {complaints[:1]}")
    require(person.is_inside, "who has registered is not logged in")


def refuse_same_address(scene: Scene) -> None:
    """An address that has an account cannot make another."""
    taken = scene.call_member().email
    person = scene.call_stranger()
    require(person.register(taken), "a second account with the same address was accepted")
    require(not person.is_inside, "a second account with the same address is inside")


def refuse_wrong_password(scene: Scene) -> None:
    """A wrong password is refused and that is said; the right one works after it."""
    person = AppUser(scene.call_stranger().visitor, scene.call_member().email)
    require(person.log_in(f"not {PASSWORD_TYPED}"), "nothing says that a password is wrong")
    require(not person.is_inside, "a wrong password opens the app")
    require(not person.log_in() and person.is_inside, "the right password does not work after a wrong one")


def refuse_unknown_address(scene: Scene) -> None:
    """Who has no account does not get in."""
    person = AppUser(scene.call_stranger().visitor, "nobody@example.org")
    require(person.log_in(), "nothing says that there is no such account")
    require(not person.is_inside, "somebody without an account is inside")


def log_out(scene: Scene) -> None:
    """After logging out one is outside, in every tab, and after logging in everything is there."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    other = person.open_tab()
    person.log_out()
    for one in (person, other):
        one.goto("/")
        require(not one.is_inside and one.offers(*LOG_IN, *REGISTER), "after logging out one is still inside")
    complaints = person.log_in()
    require(not complaints and person.is_inside, "one cannot log in again")
    require(person.offers(*LOG_OUT), "who is logged in cannot log out")
    require(person.lists(scene.thing, title), "after logging in again something is missing")


def keep_strangers_from_writing(scene: Scene) -> None:
    """Who is not logged in can neither add nor change, by link or by address."""
    person, title = scene.call_member(), scene.make_title()
    person.add(scene.thing, title)
    person.begin_to_add(scene.thing)
    paths = [person.visitor.path]
    person.press(scene.thing, title, *EDIT)
    paths.append(person.visitor.path)
    stranger = scene.call_stranger()
    for path in paths:
        stranger.goto(path)
        require(not stranger.can_write, f"a stranger can write at {path}")
    with suppress(Missed):  # nothing beside the row says so, as it should be
        stranger.press(scene.thing, title, *DELETE)
    require(person.lists(scene.thing, title), "a stranger has deleted something")


ACCOUNTS: tuple[AppCheck, ...] = (
    register,
    refuse_same_address,
    refuse_wrong_password,
    refuse_unknown_address,
    log_out,
    keep_strangers_from_writing,
)
