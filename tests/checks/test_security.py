"""The security check: what bandit sees, what our own rules see, and that neither is taken for a pass when it broke."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.checks.bench.project_finder import find_project
from burnish.checks.check import Finding
from burnish.checks.security import SecurityCheck
from burnish.checks.security.rules import find_breaches, select_rules
from burnish.errors import CheckError
from burnish.parsing import parse
from tests.checks.static_support import BrokenContext, findings, judged, project_in, sample

KEY = "AKIA" + "Q3EGRZ7WLT5MXNBV"


def broken_rules(code: str, generated: bool = True, network: bool = False) -> set[str]:
    return {finding.rule for finding in found_in(code, generated, network)}


def found_in(code: str, generated: bool = True, network: bool = False) -> list[Finding]:
    return list(find_breaches(parse(code), "a.py", select_rules(generated, network)))


@pytest.mark.slow
def test_a_package_that_the_user_named_may_go_online_and_no_other(tmp_path: Path) -> None:
    fetch = "import requests\n\n\ndef fetch(url):\n    return requests.get(url, timeout=5).text\n"
    project = project_in(tmp_path, {"solution.py": fetch}, generated=True)
    refused = judged(SecurityCheck(), project)
    assert (refused.verdict, {one["rule"] for one in findings(refused)}) == ("failed", {"no-network"}), refused
    assert judged(SecurityCheck(), project.model_copy(update={"named": ("requests[socks]>=2",)})).verdict == "passed"
    named = select_rules(generated=True, network=False, named=["requests", "pyzmq"])
    for code, seen in {"import zmq": 0, "import httpx": 1, "import requests, socket": 1, "import urllib3": 1}.items():
        assert len(list(find_breaches(parse(code), "a.py", named))) == seen, code


@pytest.mark.slow
def test_safe_code_passes_whatever_it_says_in_strings_and_comments(tmp_path: Path) -> None:
    for generated in (False, True):
        evidence = judged(SecurityCheck(), project_in(tmp_path, sample("safe"), generated))
        assert (evidence.verdict, evidence.threshold) == ("passed", "none of medium severity or above")
        assert "no-" not in str([finding["rule"] for finding in findings(evidence)])


@pytest.mark.slow
def test_vulnerable_code_fails_with_the_worst_first(tmp_path: Path) -> None:
    evidence = judged(SecurityCheck(), project_in(tmp_path, sample("vulnerable")))
    assert evidence.verdict == "failed"
    severities = [str(finding["severity"]) for finding in findings(evidence)]
    assert severities == sorted(severities, key=["high", "medium", "low"].index)
    assert evidence.figure == f"{len(severities)} findings, the worst of high severity, surely right"
    rules = {finding["rule"] for finding in findings(evidence)}
    assert {"B602, no-shell", "B605, no-shell", "B307, no-eval", "B301, no-object-loading", "B608"} <= rules
    assert {"B506, no-object-loading", "B105, no-secret"} <= rules
    assert not any(finding["line"] == 24 for finding in findings(evidence) if finding["file"] == "pkg/database.py")


@pytest.mark.slow
def test_bandit_alone_has_the_same_findings(tmp_path: Path) -> None:
    evidence = judged(SecurityCheck(), project_in(tmp_path, sample("vulnerable")))
    command = [sys.executable, "-m", "bandit", "-q", "-r", "-f", "json", "."]
    alone = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)["results"]
    theirs = sorted((r["filename"].removeprefix("./"), r["line_number"], r["test_id"]) for r in alone)
    rules = [(f["file"], f["line"], str(f["rule"]).split(", ")[0]) for f in findings(evidence)]
    assert sorted(rule for rule in rules if rule[2].startswith("B")) == theirs
    assert len(theirs) > 12


@pytest.mark.slow
def test_the_projects_own_configuration_of_bandit_has_no_say(tmp_path: Path) -> None:
    (tmp_path / ".bandit").write_text("[bandit]\nskips = B307\nexclude = app.py\n")
    (tmp_path / "pyproject.toml").write_text('[tool.bandit]\nskips = ["B307"]\n')
    evidence = judged(SecurityCheck(), project_in(tmp_path, {"app.py": "def f(x):\n    return eval(x)\n"}))
    assert [finding["rule"] for finding in findings(evidence)] == ["B307, no-eval"]


@pytest.mark.slow
def test_a_model_cannot_excuse_its_own_code_and_a_user_can(tmp_path: Path) -> None:
    files = {"app.py": "def f(x):\n    return eval(x)  # nosec\n"}
    assert judged(SecurityCheck(), project_in(tmp_path, files)).verdict == "passed"
    assert judged(SecurityCheck(), project_in(tmp_path, files, generated=True)).verdict == "failed"


@pytest.mark.slow
def test_a_mark_that_names_another_test_excuses_nothing(tmp_path: Path) -> None:
    files = {"app.py": "def f(x):\n    return eval(x)  # nosec B602\n"}
    assert judged(SecurityCheck(), project_in(tmp_path, files)).verdict == "failed"


@pytest.mark.slow
def test_the_severity_of_the_settings_decides_except_for_rules_in_generated_code(tmp_path: Path) -> None:
    files = {"app.py": "import pickle\n\n\ndef f(x):\n    return pickle.loads(x)\n"}
    assert judged(SecurityCheck(), project_in(tmp_path, files, severity="high")).verdict == "passed"
    assert judged(SecurityCheck(), project_in(tmp_path, files, severity="medium")).verdict == "failed"
    assert judged(SecurityCheck(), project_in(tmp_path, files, generated=True, severity="high")).verdict == "failed"
    plain = {"app.py": "import pickle\n"}
    assert judged(SecurityCheck(), project_in(tmp_path, plain, severity="low")).verdict == "failed"


@pytest.mark.parametrize(
    "said", ["", "Traceback: no", "[]", '{"results": []}', '{"results":[],"errors":[],"metrics":{}}']
)
def test_a_scanner_that_did_not_answer_is_not_a_pass(tmp_path: Path, said: str) -> None:
    project = project_in(tmp_path, {"app.py": "x = 1\n"})
    with BrokenContext(project, said) as context, pytest.raises(CheckError, match="bandit"):
        SecurityCheck().judge(project, context)


@pytest.mark.slow
def test_a_file_that_does_not_parse_is_named_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    files = {"good.py": "x = 1\n", "odd.py": "def f(:\n"}
    evidence = judged(SecurityCheck(), project_in(tmp_path, files))
    assert evidence.verdict == "not_run"
    assert "odd.py" in evidence.why
    files["good.py"] = "def f(x):\n    return eval(x)\n"
    evidence = judged(SecurityCheck(), project_in(tmp_path, files))
    assert (evidence.verdict, "odd.py" in evidence.why) == ("failed", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [b"\x00\x01\x02", b"# coding: nonsense\nx = 1\n", b"x = '\xff\xfe'\n", b"x = " + b"(" * 5000]
)
def test_a_file_that_is_no_text_of_python_is_not_run(tmp_path: Path, content: bytes) -> None:
    project = project_in(tmp_path, {"app.py": ""})
    (tmp_path / "app.py").write_bytes(content)
    evidence = judged(SecurityCheck(), project)
    assert (evidence.verdict, "app.py" in evidence.why) == ("not_run", True)


@pytest.mark.slow
def test_a_password_is_not_repeated_in_the_evidence(tmp_path: Path) -> None:
    files = {"app.py": "def f(password='hunter2', token='changeme'):\n    return connect(pwd='example')\n"}
    evidence = judged(SecurityCheck(), project_in(tmp_path, files))
    assert len(findings(evidence)) == 2
    assert not any(word in evidence.model_dump_json() for word in ("hunter2", "changeme", "example"))


def test_no_files_is_not_a_pass(tmp_path: Path) -> None:
    assert judged(SecurityCheck(), project_in(tmp_path, {})).verdict == "not_run"


@pytest.mark.slow
def test_odd_file_names_are_looked_at_like_any_other(tmp_path: Path) -> None:
    names = ["-x.py", "a b.py", "tox/.tox/a.py", "[red]x.py", "-.py"]
    evidence = judged(SecurityCheck(), project_in(tmp_path, dict.fromkeys(names, "def f(x):\n    return eval(x)\n")))
    assert sorted(str(finding["file"]) for finding in findings(evidence)) == sorted(names)


@pytest.mark.parametrize(
    "code",
    [
        "import os as o\no.system(x)",
        "from os import system as s\ns(x)",
        "from os import *\nsystem(x)",
        "import os\ngetattr(os, 'system')(x)",
        "import os\ngetattr(os, 'sys' + 'tem')(x)",
        "__import__('os').system(x)",
        "import importlib as i\ni.import_module('os').popen(x)",
        "import os\nrun = os.system\ndef f(x):\n    run(x)",
        "import os\na = os\nb = a\nc = b.system\nc(x)",
        "import os\nos.__dict__['system'](x)",
        "import os\nvars(os)['system'](x)",
        "import sys\nsys.modules['os'].system(x)",
        "import os\n(s := os.system)(x)",
        "import os\ndef f(x, s=os.system):\n    s(x)",
        "import os\nlist(map(os.system, xs))",
        "from subprocess import run as r\nr(x, shell=True)",
        "import subprocess\nsubprocess.run(args=x, shell=1)",
        "import subprocess\nsubprocess.run(f'ls {x}', **{'shell': True})",
        "import subprocess\nsubprocess.Popen(x, shell=flag)",
        "import subprocess\nsubprocess.run(['bash', '-c', 'ls ' + x])",
        "import subprocess\nsubprocess.getoutput(x)",
        "import asyncio\nasync def f(x):\n    await asyncio.create_subprocess_shell(x)",
    ],
)
def test_a_shell_with_input_is_found_by_any_name(code: str) -> None:
    assert "no-shell" in broken_rules(code, generated=False)


@pytest.mark.parametrize(
    "code",
    [
        "eval(x)",
        "exec(input())",
        "compile(x, 'f', 'exec')",
        "import builtins\nbuiltins.eval(x)",
        "e = eval\ne(x)",
        "list(map(eval, xs))",
        "getattr(__builtins__, 'exec')(x)",
        "__builtins__['eval'](x)",
        "globals()['__builtins__'].eval(x)",
        "eval('1 + ' + x)",
        "eval(f'1 + {x}')",
        "table = {'run': eval}",
        "def f(eval):\n    pass\neval(x)",
    ],
)
def test_running_input_as_python_is_found_by_any_name(code: str) -> None:
    assert "no-eval" in broken_rules(code, generated=False)


@pytest.mark.parametrize(
    "code",
    [
        "eval('1 + 1')",
        "exec('x = 1')",
        "import re\nre.compile(x)",
        "from re import compile\ncompile(x)",
        "import ast\nast.literal_eval(x)",
        "model.eval()\nframe.eval(x)\ncursor.exec(x)",
        "def eval(x):\n    return x\neval(y)",
        "text = 'eval(x)'  # eval(x)",
        "def f(compile):\n    return compile",
        "import subprocess\nsubprocess.run(['ls', x])\nsubprocess.run(x)\nsubprocess.run(x, shell=False)",
        "import subprocess\nsubprocess.run('ls -l', shell=True)\nCLEAR = 'clear'\nsubprocess.run(CLEAR, shell=True)",
        "import os\nos.system('clear')",
        "import pickle\npickle.loads(pickle.dumps(x))\npickle.dumps(x)",
        "import yaml\nyaml.load(x, Loader=yaml.SafeLoader)\nyaml.safe_load(x)\nyaml.load(x, yaml.CSafeLoader)",
        "from yaml import load, SafeLoader as S\nload(x, Loader=S)",
        "import torch\ntorch.load(x, weights_only=True)",
        "import urllib.parse\nfrom http import HTTPStatus\nimport asyncio\nasyncio.run(f())",
        "open('data.csv')\nopen(path)\nopen('/dev/null')\nwith open(f'{name}.txt') as f:\n    pass",
        "node = tree\nnode = node.left\nnode = node.right",
        "import os\nos.path.join('/', name)\nos.getcwd()",
    ],
)
def test_sound_code_breaks_no_rule(code: str) -> None:
    assert broken_rules(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.loads(x)",
        "from pickle import loads as l\nl(x)",
        "import marshal\nmarshal.load(f)",
        "import shelve\nshelve.open(p)",
        "import yaml\nyaml.load(x)",
        "import yaml\nyaml.load(x, Loader=yaml.Loader)",
        "import numpy as np\nnp.load(p, allow_pickle=True)",
    ],
)
def test_data_that_can_run_code_is_not_loaded(code: str) -> None:
    assert broken_rules(code, generated=False) == {"no-object-loading"}


@pytest.mark.parametrize(
    "code",
    [
        "password = 'hunter2'",
        "DB_PASSWORD: str = 'correct-horse'",
        "self.secret = 's3cr3t!'",
        "config['password'] = 'hunter2'",
        "config = {'api_key': 'f81d4fae7dec11d0a765'}",
        "connect(user='me', password='hunter2')",
        "def f(password='hunter2'): ...",
        "f = lambda *, pwd='hunter2': pwd",
        "if password == 'hunter2': ...",
        "apiKey = 'f81d4fae7dec11d0'",
        "auth_header_value = 'Zm9vYmFyMTIzNDU2Nzg5MFhZWg'",
        f"anything = '{KEY}'",
        f"anything = '{KEY[:7]}' + '{KEY[7:]}'",
        f"f(b'{KEY}')",
        "x = 'ghp_" + "a1B2" * 9 + "'",
        "x = 'sk-" + "a1B2c3" * 6 + "'",
        "x = '''-----BEGIN RSA PRIVATE KEY-----'''",
        "url = 'postgres://admin:hunter2@db.local/x'",
    ],
)
def test_secrets_are_found_and_never_repeated(code: str) -> None:
    breach = next(finding for finding in found_in(code, generated=False))
    assert breach.rule == "no-secret"
    assert "hunter2" not in breach.what
    assert KEY not in breach.what


@pytest.mark.parametrize(
    "code",
    [
        "password = ''",
        "password = os.environ['PASSWORD']",
        "PASSWORD = 'changeme'",
        "api_key = 'YOUR_API_KEY'",
        "api_key = '<your key here>'",
        "token = '('",
        "if token == 'while': ...",
        "TOKEN = 'TOKEN'",
        "password_field = 'passwd_input_1'",
        "token_url = 'https://host/oauth2/token'",
        "sha256 = '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32'",
        "ask(password='Please type your password')",
        "key = 'name'",
        "url = f'postgres://{user}:{password}@db'",
        "x = 'AKIAIOSFODNN7EXAMPLE'",
        "password = ':****'",
        "help = 'postgres://user:pass@host:5432/name'",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(code: str) -> None:
    assert broken_rules(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import socket",
        "import urllib.request as u",
        "from urllib import request",
        "import urllib\nurllib.request.urlopen(x)",
        "from http.client import HTTPConnection",
        "import requests, json",
        "__import__('socket')",
        "import importlib\nimportlib.import_module('httpx')",
        "import asyncio\nasync def f():\n    await asyncio.open_connection(h, 1)",
    ],
)
def test_generated_code_stays_offline_unless_asked(code: str) -> None:
    assert broken_rules(code) == {"no-network"}
    assert broken_rules(code, network=True) == set()
    assert broken_rules(code, generated=False) == set()


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd')",
        "from pathlib import Path as P\nP('/etc').iterdir()",
        "import os\nopen(os.path.expanduser('~/.ssh/id_rsa'))",
        "import pathlib\npathlib.Path.home()",
        "open('../../x')",
        "open(f'/home/{name}/x')",
        "BASE = '/var/lib'\nopen(BASE + name)",
        "import shutil\nshutil.rmtree('/')",
        "open(file='~/x')",
    ],
)
def test_generated_code_stays_in_its_folder(code: str) -> None:
    assert broken_rules(code) == {"no-outside-file"}
    assert broken_rules(code, generated=False) == set()


@pytest.mark.parametrize("code", ["__import__(name)", "import os\ngetattr(os, name)(x)"])
def test_generated_code_does_not_hide_what_it_uses(code: str) -> None:
    assert broken_rules(code) == {"no-hidden-name"}


@pytest.mark.slow
def test_a_chain_of_names_built_to_explode_is_looked_at_in_no_time() -> None:
    lines = "".join(f"x = x.a{number}\n" for number in range(3000))
    assert broken_rules(f"import os\nx = os\n{lines}os.system(y)\n") == {"no-shell"}


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a.", "eyJ-", "a://b:c", "-----BEGIN A ", "(", "password ", "AKIA", "sk-", "A+/b9"])
def test_a_text_built_to_take_long_is_looked_at_in_no_time(piece: str) -> None:
    started = time.monotonic()
    broken_rules(f"password = {piece * 100_000!r}\n")
    assert time.monotonic() - started < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chars", "severity"),
    [
        ([*map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C))], "high"),
        ([*map(chr, (0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD, 0xE0041, 0xE0101, 0x3164))], "medium"),
        ([*"\x1b\x08\x0b\x1c\x1d\x1e\x85\u2028\u2029\x7f"], "medium"),
    ],
)
def test_a_character_that_hides_what_a_line_says_fails(tmp_path: Path, chars: list[str], severity: str) -> None:
    for generated in (False, True):
        files = {f"a{place}.py": f"ROLE = 1\n\n\nROLES = ['{char}x']  # nosec\n" for place, char in enumerate(chars)}
        evidence = judged(SecurityCheck(), project_in(tmp_path, files, generated))
        found = [one for one in findings(evidence) if "no-hidden-character" in str(one["rule"])]
        assert evidence.verdict == "failed"
        assert {(one["line"], one["severity"]) for one in found} == {(4, severity)}
        assert {one["file"] for one in found} == set(files)


@pytest.mark.slow
def test_a_form_feed_inside_of_an_indentation_is_found_and_a_page_break_is_not(tmp_path: Path) -> None:
    hidden = "if False:\n    pass\n    \fx = 1\n"
    assert [one["line"] for one in findings(judged(SecurityCheck(), project_in(tmp_path, {"a.py": hidden})))] == [3]
    pages = "x = 1\n\f\n\fdef f():\n    return 'é日本語 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥\xa0'\n"
    assert judged(SecurityCheck(), project_in(tmp_path, {"a.py": pages}, generated=True)).verdict == "passed"


def test_a_name_in_other_letters_is_the_name_that_python_calls() -> None:
    code = "import \uff4fs\n\n\ndef f(x):\n    os.\U0001d4fc\U0001d502stem(x)\n    return \uff45val(x)\n"
    assert {"no-eval", "no-shell"} <= broken_rules(code)


@pytest.mark.slow
def test_a_file_that_python_imports_and_nobody_judges_is_named_and_no_pass(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import old\n")
    (tmp_path / "old.py").write_bytes(b"# coding: utf-7\n#+AAo-import os\n")
    (tmp_path / "junk.py").write_bytes(b"\xff\0")
    evidence = judged(SecurityCheck(), find_project([tmp_path]))
    assert (evidence.verdict, "old.py" in evidence.why) == ("not_run", True)
    assert evidence.details["unread"].keys() == {"old.py"}
