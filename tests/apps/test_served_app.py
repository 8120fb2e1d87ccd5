"""A built app serves in a cell, and its data outlive a crash."""

import pytest

from burnish.apps.judging.served_app import Client, ServedApp
from burnish.sandbox import ServeError
from tests.apps.conftest import Serve
from tests.apps.hand_app import prepare_hand_layer

SIX_ROWS = """
import sqlite3
from fastapi import FastAPI, Response
app = FastAPI()
base = sqlite3.connect("data.sqlite", check_same_thread=False)
base.execute("CREATE TABLE IF NOT EXISTS word (id INTEGER PRIMARY KEY, text TEXT, target_id INTEGER)")
@app.get("/")
def count():
    return base.execute("SELECT count(*), count(DISTINCT text), count(DISTINCT target_id) FROM word").fetchone()
@app.post("/")
def add():
    base.execute("INSERT INTO word (text, target_id) VALUES ('a', 1)")
    base.commit()
    return Response(status_code=303, headers={"Location": "/"})
@app.get("/cookie")
def cookie():
    return Response(headers={"Set-Cookie": "said=hello; Path=/"})
"""


def open_small(code: str = SIX_ROWS) -> ServedApp:
    return ServedApp({"app/__init__.py": "", "app/main.py": code}, prepare_hand_layer())


@pytest.mark.slow
def test_an_app_is_asked_restarted_and_filled_through_its_door() -> None:
    with open_small() as app:
        assert app.request("GET", "/").text == "[0,0,0]"
        client = Client(app)
        before = app.read_state()
        assert client.send("POST", "/", {}).header("location") == "/"
        assert app.read_state().statements == before.statements + 1, "the row; what begins and ends it does not count"
        app.restart()
        assert app.read_state().boot != before.boot
        assert app.request("GET", "/").text == "[1,1,1]"
        app.fill_table("word", 5, ["text"], {"target": "word"})
        assert app.request("GET", "/").text.startswith("[6,6,")
        client.goto("/cookie")
        assert client.cookies == {"said": "hello"}
        socket = app.address
    assert not socket.exists()


@pytest.mark.slow
def test_an_app_that_does_not_start_says_why() -> None:
    with pytest.raises(ServeError, match="no module named 'nothing'|nothing"):
        open_small("import nothing")


@pytest.mark.slow
def test_a_person_without_javascript_is_led_to_log_in_and_back(serve: Serve) -> None:
    client = Client(serve())
    client.goto("/loan")
    assert (client.path, client.status) == ("/login?next=/loan", 200)
    form = client.goto("/register").find_form("/register")
    assert form is not None
    client.submit(form, {"email": "a@example.org", "password": "correct horse"})
    assert client.path == "/tool"
