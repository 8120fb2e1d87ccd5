"""Mutants of one module and the tests beside it, as a run of the agent needs them: which of them nobody notices."""

from collections.abc import Iterable

from burnish.checks.final import CODE, SolutionBench
from burnish.checks.mutation.mutant import MUTMUT, Mutant
from burnish.checks.mutation.mutate_project import EQUIVALENT, NOTICED, MutationRun, add_branch_mutants, mutate_project
from burnish.errors import BurnishError
from burnish.events import Frozen, Survivor


class SurvivingModule(Survivor):
    """A mutant that no test noticed, as a whole module."""

    module: str


class ModuleMutants(Frozen):
    """What became of the mutants of one module."""

    mutants: int = 0
    """How many were tried."""
    noticed: int = 0
    unnoticed: tuple[SurvivingModule, ...] = ()
    equivalent: int = 0
    """How many more no test noticed that behave as the code does; they are not among those tried."""
    inputs: int = 0
    """On so many inputs."""
    why: str = ""
    """Where nothing could be tried: why."""


class Mutations(SolutionBench):
    """Breaks a module in small ways and says which of them its tests do not notice."""

    def of(self, code: str, tests: str) -> ModuleMutants:
        """Try the mutants of the code with the text of its test file; a place that cannot be opened is said."""
        try:
            with self.open(code, tests) as context:
                run = mutate_project(context.project, context)
        except BurnishError as error:
            run = MutationRun(problem=str(error))
        if run.problem:
            return ModuleMutants(why=run.problem)
        missed = tuple(make_survivor(mutant, code) for mutant in run.unnoticed)
        return ModuleMutants(
            mutants=run.tried,
            noticed=run.count(*NOTICED),
            unnoticed=missed,
            equivalent=run.count(EQUIVALENT),
            inputs=run.inputs,
        )

    def again(self, code: str, keys: Iterable[str]) -> tuple[SurvivingModule, ...]:
        """The mutants of these keys, made anew; nothing is run. Raises CheckError."""
        made = {mutant.key: mutant for mutant in MUTMUT.mutants(CODE, code, everything=True)}
        made |= add_branch_mutants(made, {CODE: code}, everything=True)
        return tuple(make_survivor(made[key], code) for key in keys if key in made)


def make_survivor(mutant: Mutant, code: str) -> SurvivingModule:
    """The mutant with all of its module around it."""
    return SurvivingModule(key=mutant.key, line=mutant.changed, said=mutant.said(), module=mutant.module(code))
