"""Who read our output may leave before the end (`burnish write … | head`); the work goes on to its end, quietly."""

import os
import sys

from rich.console import Console


def reader_left() -> None:
    """From here on, what is printed goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class PatientConsole(Console):
    """A console that falls silent, instead of ending the program, when nobody reads it any more."""

    def on_broken_pipe(self) -> None:
        """Fall silent."""
        self.quiet = True
        reader_left()
