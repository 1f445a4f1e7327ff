"""No file that is there is replaced without --force, and nothing is charged for the refusal; errors name commands."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey import Ledger, LedgerError, PrivateCoreset
from covey.cli.main import main
from covey.text import COMMANDS

FIT = ["-k", "2", "--epsilon", "1", "--bounds", "lon=0:1,lat=0:1", "--ledger", "b.ledger", "--dataset", "d"]
OLD = b"what was there before"


@pytest.fixture(scope="module")
def rows():
    return pd.DataFrame(np.random.default_rng(5).random((300, 2)), columns=["lon", "lat"])


@pytest.fixture(scope="module")
def coreset(rows):
    return PrivateCoreset(2, bounds={"lon": (0, 1), "lat": (0, 1)}, random_state=1).fit(rows).coreset_


@pytest.fixture
def place(tmp_path, monkeypatch, rows, coreset):
    monkeypatch.chdir(tmp_path)
    rows.to_csv("rows.csv", index=False)
    coreset.save("coreset.json")
    area = {"type": "Polygon", "coordinates": [[[0, 0], [0.1, 0], [0.1, 0.1], [0, 0]]]}
    Path("zones.geojson").write_text(json.dumps({"type": "Feature", "properties": {"epsilon": 0.5}, "geometry": area}))
    Ledger.create("b.ledger", dataset="d", epsilon=2)
    return tmp_path


def refused(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main([*arguments])
    assert end.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("out.json", ["fit", "rows.csv", *FIT, "--out", "out.json"]),
        ("out.geojson", ["fit", "rows.csv", *FIT, "--out", "fresh.json", "--geojson", "out.geojson"]),
        ("out.png", ["coreset", "rows.csv", *FIT, "--out", "fresh.json", "--plot", "out.png"]),
        ("out.parquet", ["coreset", "rows.csv", *FIT, "--out", "out.parquet"]),
        ("out.json", ["query", "coreset.json", "-k", "2", "--allow-seeded", "--out", "out.json"]),
        ("out.html", ["studio", "--node", "--no-browser", "--out", "out.html"]),
        ("out.csv", ["thin", "rows.csv", "--zones", "zones.geojson", "--epsilon", "1", "--out", "out.csv"]),
    ],
)
def test_what_is_there_stays_unless_forced(place, capsys, file, command):
    Path(file).write_bytes(OLD)
    assert "is there already" in refused(capsys, *command)
    assert Path(file).read_bytes() == OLD
    assert not Path("fresh.json").exists()
    assert Ledger.open("b.ledger").datasets()["d"].spent.epsilon == 0
    main([*command, "--force"])
    assert Path(file).read_bytes() != OLD


def test_the_file_of_a_paid_release_stays(place):
    Path("out.json").write_bytes(OLD)
    with suppress(SystemExit):
        main(["fit", "rows.csv", *FIT, "--out", "out.json"])
    assert Path("out.json").read_bytes() == OLD


def test_a_stored_release_does_not_replace_a_file_either(place, capsys):
    main(["fit", "rows.csv", *FIT, "--out", "out.json"])
    (charge,) = (entry.sequence for entry in Ledger.open("b.ledger").entries() if entry.kind == "charge")
    export = ["ledger", "export", "b.ledger", "--entry", str(charge), "--out"]
    main([*export, "again.json"])
    assert Path("again.json").read_bytes() == Path("out.json").read_bytes()
    Path("again.json").write_bytes(OLD)
    assert "is there already" in refused(capsys, *export, "again.json")
    main([*export, "again.json", "--force"])
    assert Path("again.json").read_bytes() == Path("out.json").read_bytes()


def test_the_ledger_is_never_replaced(place, capsys):
    assert "another file of this command" in refused(capsys, "fit", "rows.csv", *FIT, "--out", "b.ledger", "--force")


@pytest.mark.parametrize("data", ["days/*.csv", "days/**/*.csv", "**/*.csv", "day[s]", str(Path("{}", "*s", "*"))])
def test_what_is_written_is_never_among_the_files_of_a_pattern(place, capsys, rows, data):
    """Or the next fit would read it too, and count everybody twice."""
    Path("days").mkdir()
    rows.to_csv("days/monday.csv", index=False)
    fit = ["fit", data.format(place), *FIT, "--out", "days/new.csv"]
    assert "would lie among the data" in refused(capsys, *fit)
    assert Ledger.open("b.ledger").datasets()["d"].spent.epsilon == 0


def test_a_file_beside_those_of_a_pattern_is_written(place, rows):
    Path("days").mkdir()
    rows.to_csv("days/monday.csv", index=False)
    main(["fit", "days/*.csv", *FIT, "--out", "days/out.json"])
    assert Path("days/out.json").exists()


def test_zones_and_sites_are_never_replaced(place, capsys):
    sites = ["--algorithm", "sites", "--param", "sites=sites.csv", "--report", "sites.csv", "--force"]
    Path("sites.csv").write_text("lon,lat\n0.1,0.1\n0.9,0.9\n")
    assert "another file of this command" in refused(capsys, "fit", "rows.csv", *FIT, *sites)
    given = ["fit", "rows.csv", *FIT, "--zones", "zones.geojson", "--out", "zones.geojson", "--force"]
    assert "another file of this command" in refused(capsys, *given)


def test_force_is_for_the_page_of_a_node_alone(place, capsys):
    assert "--force" in refused(capsys, "studio", "--demo", "--force")


@pytest.mark.parametrize(
    ("call", "words", "command"),
    [
        (lambda: Ledger.open("no.ledger"), "`Ledger.create` makes one", ["ledger", "list", "no.ledger"]),
        (
            lambda: Ledger.create("b.ledger", dataset="d", epsilon=1),
            "`Ledger.add` adds a data set to it",
            ["ledger", "init", "b.ledger", "--dataset", "d", "--epsilon", "1"],
        ),
        (
            lambda: Ledger.open("b.ledger").document(9),
            "`Ledger.entries` lists them",
            ["ledger", "export", "b.ledger", "--entry", "9", "--out", "x.json"],
        ),
    ],
)
def test_an_error_of_a_ledger_names_a_call_in_python_and_a_command_on_the_command_line(
    place, capsys, call, words, command
):
    with pytest.raises(LedgerError, match=re.escape(words)):
        call()
    for name, meant in COMMANDS.items():
        words = words.replace(name, meant)
    said = refused(capsys, *command)
    assert words in said
    assert "Ledger." not in said


def test_a_lost_anchor_is_written_anew_by_the_command_that_the_error_names(place, capsys):
    main(["ledger", "init", "a.ledger", "--dataset", "d", "--epsilon", "1", "--anchor", "a.anchor"])
    Path("a.anchor").unlink()
    command = re.search(r"`covey (ledger renew-anchor)`", refused(capsys, "ledger", "list", "a.ledger"))[1]
    main([*command.split(), "a.ledger"])
    main(["ledger", "verify", "a.ledger"])
    assert "its anchor agrees" in capsys.readouterr().out


def test_every_call_of_the_table_is_one():
    calls = [found[1] for call in COMMANDS if (found := re.fullmatch(r"`Ledger\.(\w+)`", call))]
    assert all(callable(getattr(Ledger, call)) for call in calls)
