"""What an answered question is worth where the model may be asked again after it.

    python experiments/further_answers.py RECORDED MODEL OUT [ROUNDS]
    python experiments/further_answers.py RECORDED

RECORDED is an evaluation with all its calls made (`--confidence 1`). Its answers are given again; what it does not
hold, questions to the model that come after an answer of the user, goes to MODEL, which must be of the same weights.
Without MODEL: how many attempts have a right version at all, which is as far as any choice among versions can come.
"""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from burnish.checks import grade_script
from burnish.evals import evaluate
from burnish.evals.eval_store import Folder
from burnish.evals.handle import start_evaluation
from burnish.evals.replay import NotRecorded, RecordedModel
from burnish.evals.suites import load_suite
from burnish.events import Answered, CodeProposed, Scored
from burnish.models.model import Ask, Piece
from burnish.models.names import open_model
from burnish.sandbox import open_sandbox
from burnish.tasks.assemble import assemble
from burnish.tasks.sentence import find_kinds


def main(recorded: str, model: str, out: str, rounds: int = 8) -> None:
    """Replay with three answers, and print the table by number of answers."""
    live = open_model(model)

    class RecordedElseAsked(RecordedModel):
        """Gives what is on record, and asks where nothing is."""

        def for_attempt(self, task_id: str, seed: int) -> RecordedModel:
            return RecordedElseAsked(self.source, self.source.read_attempt(task_id, seed))

        def stream(self, ask: Ask, cancel: threading.Event) -> Iterator[Piece]:
            try:
                self._find(ask)
            except NotRecorded:
                yield from live.stream(ask, cancel)
            else:
                yield from super().stream(ask, cancel)

    evaluate.RecordedModel = RecordedElseAsked  # type: ignore[misc]
    results = start_evaluation(evaluate.replay, recorded, rounds=rounds, answers=3, at_once=4, out=Path(out)).wait()
    rows = zip(results.pass_at_1_by_answers, results.pass_at_1_by_answers_interval, strict=True)
    for answers, (share, (low, high)) in enumerate(rows):
        print(f"{answers} answers: {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})")
    live.close()


def count_right(recorded: str) -> None:
    """Of all attempts: those that hand over a right version, and those that have one."""
    folder = Folder.open(Path(recorded))
    plan, handed_over, had = folder.plan, 0, 0
    tasks = {task.id: task for task in load_suite(plan.suite, variant=plan.variant, split=plan.split)}
    with open_sandbox("auto") as box:
        for task_id, _, events in folder.attempts():
            task, scores = tasks[task_id], {one.version: one.passed for one in events if isinstance(one, Scored)}
            last = [event.version for event in events if isinstance(event, Answered)][-1:]
            right = any(scores.get(version or 0, False) for version in last)
            codes = {one.code for one in events if isinstance(one, CodeProposed) and not one.problem}
            handed_over += right
            had += right or any(
                grade_script(assemble(task, code), task.hidden_tests, box, 5.0, find_kinds(task)).all_passed
                for code in codes
            )
    print(f"{len(folder.finished_attempts())} attempts: {handed_over} hand over a right version, {had} have one")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        count_right(sys.argv[1])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 8)
