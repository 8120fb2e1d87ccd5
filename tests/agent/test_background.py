"""The end that the user made is the last word on record."""

import threading

from burnish.agent.background import Ending
from burnish.events import BaseEvent, Decided, Stopped

END = Stopped(reason="interrupted", why="stopped by the user")
LIMIT = Stopped(reason="calls", why="the limit of 4 calls is reached")


def test_nothing_is_told_after_the_end_not_even_the_end_itself() -> None:
    told: list[BaseEvent] = []
    ending = Ending()
    for event in (Decided(choice="draft", reason="first"), LIMIT, END, Decided(choice="draft", reason="late"), END):
        ending.unless_over(event, told.append)
    assert [getattr(event, "kind", "") for event in told] == ["decided", "stopped", "stopped"]
    assert told[-1] is END


def test_of_many_who_talk_at_once_whoever_ends_it_has_the_last_word() -> None:
    told: list[BaseEvent] = []
    ending, ready = Ending(), threading.Barrier(8)

    def talks(number: int) -> None:
        ready.wait()
        for place in range(50):
            last = number == 3 and place == 25
            ending.unless_over(END if last else Decided(choice="draft", reason=f"{number}"), told.append)

    talkers = [threading.Thread(target=talks, args=(number,)) for number in range(8)]
    for talker in talkers:
        talker.start()
    for talker in talkers:
        talker.join()
    assert told[-1] is END
    assert told.count(END) == 1


def test_whoever_watches_sees_the_end_and_nothing_later() -> None:
    ending = Ending()
    late = Decided(choice="draft", reason="late")
    assert ending.allows(late)
    ending.unless_over(END, lambda event: None)
    assert ending.allows(END)
    assert not ending.allows(late)
