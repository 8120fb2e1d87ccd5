"""Which code reads or writes outside its own folder: absolute paths, the home folder, the folder above."""

import ast

from burnish.checks.security.names import Names

OPENERS = {
    *("builtins.open", "io.open", "os.open", "codecs.open", "pathlib.Path", "pathlib.PosixPath", "os.listdir"),
    *("os.scandir", "os.walk", "os.remove", "os.unlink", "os.rename", "os.chdir", "os.makedirs", "os.mkdir"),
    *("shutil.rmtree", "shutil.copy", "shutil.copyfile", "shutil.copytree", "shutil.move", "glob.glob", "glob.iglob"),
    *("sqlite3.connect", "tarfile.open", "gzip.open", "zipfile.ZipFile", "pandas.read_csv", "numpy.loadtxt"),
}
HOMES = {"os.path.expanduser", "posixpath.expanduser", "pathlib.Path.home"}
HARMLESS = {"/dev/null", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr"}


def reading_outside(node: ast.AST, names: Names) -> str:
    """A path outside the folder the code was started in is used."""
    if not isinstance(node, ast.Call):
        return ""
    called = names.of(node.func)
    if called & HOMES or (isinstance(node.func, ast.Attribute) and node.func.attr == "expanduser"):
        return "The home folder of whoever runs this is used; code like this has its own folder and no other."
    if called & OPENERS:
        for given in (*node.args[:2], *(keyword.value for keyword in node.keywords)):
            path = names.beginning(given)
            if _is_outside(path):
                return f"{min(called & OPENERS)} goes outside the folder of the code, to {path[:60]!r}."
    return ""


def _is_outside(path: str) -> bool:
    if path in HARMLESS:
        return False
    return path.startswith(("/", "~", "\\\\", "file:")) or ".." in path.split("/") or path[1:3] in (":\\", ":/")
