"""The limit to come close to: fork, run code and tests, look at the exit code. No verdict, no limits, no separation.

Runs inside a bubblewrap cell; reads its jobs as JSON from standard input and prints how many passed.
"""

import gc
import json
import os
import sys

for name in sys.argv[1].split(","):
    __import__(name)


def run(program: str) -> bool:
    child = os.fork()
    if child == 0:
        try:
            exec(compile(program, "program", "exec"), {"__name__": "program"})
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


programs = json.load(sys.stdin)
gc.freeze()
sys.stdout.write("ready\n")
sys.stdout.flush()
os.read(int(sys.argv[2]), 1)
print(sum(run(program) for program in programs))
