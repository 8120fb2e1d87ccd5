"""What people said, whenever and however it was recorded, reads as one list."""

from burnish.events import FeedbackGiven, FeedbackTakenBack, Rated, Reviewed, UserAnswered
from burnish.events.feedback import Comment, Correction, Stars, Thumbs, fold_feedback


def test_ratings_of_older_records_reviews_and_answers_are_feedback_too() -> None:
    events = [
        UserAnswered(assumption="n is whole"),
        UserAnswered(assumption="zero is kept", words="double(0) == 0"),
        Reviewed(where="tests", said="comment", words="should be 5", line=3),
        Reviewed(where="checks", said="change", words="shorter"),
        Reviewed(where="tests", said="edited", text="assert double(5) == 10"),
        Reviewed(where="checks", said="edited", text="def double(n): ..."),
        Reviewed(where="checks", said="go_on"),
        Rated(stars=4, comment="fine"),
    ]
    assert [(one.id, one.opinion, one.words, one.given_in) for one in fold_feedback(events)] == [
        ("r1", Comment(about="zero is kept"), "double(0) == 0", "answer"),
        ("r2", Comment(line=3, about="tests"), "should be 5", "review"),
        ("r3", Comment(), "shorter", "review"),
        ("r4", Correction(tests="assert double(5) == 10"), "", "review"),
        ("r5", Correction(code="def double(n): ..."), "", "review"),
        ("r7", Stars(stars=4), "fine", "rate"),
    ]


def test_an_older_rating_can_be_changed_and_taken_back_by_its_place() -> None:
    events = [Rated(stars=4), Rated(stars=2), FeedbackTakenBack(id="r0"), FeedbackTakenBack(id="never given")]
    changed = FeedbackGiven(id="r1", opinion=Thumbs(up=False))
    assert fold_feedback([*events, changed]) == (changed,)


def test_absurd_sizes_on_record_are_cut_and_not_refused() -> None:
    [one] = fold_feedback([Rated(stars=1, comment="x" * 2_000_000)])
    assert len(one.words) == 1_000_000
