"""`covey thin`: whole records of one's own track, coins that are thrown once, and words that are true."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from covey.cli.main import cli, main
from covey.errors import CoveyError

HEADER = b"time,lon,lat,note\r\n"


def zone(name: str, epsilon: float, low: float, high: float) -> dict[str, object]:
    ring = [[low, low], [high, low], [high, high], [low, high], [low, low]]
    return {
        "type": "Feature",
        "properties": {"name": name, "epsilon": epsilon},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.geojson"
    file.write_text(
        json.dumps({"type": "FeatureCollection", "features": [zone("home", 0.2, 1, 2), zone("work", 0.5, 4, 5)]})
    )
    return file


def records(inside: int = 600, outside: int = 400) -> list[bytes]:
    """Of a home, of a place elsewhere, and some that only a careful reader takes."""
    text = '08:00,{at},{at},"he said ""{i}"", <b>hi</b>"'
    made = [text.format(at=1.5 if i < inside else 3.25, i=i).encode() + b"\r\n" for i in range(inside + outside)]
    return [*made, b'09:00,3.5,3.5,"two\r\nlines"\r\n', b"10:00, 3.5 ,+3.5e0,\xff\r\n"]


NOWHERE = [b",,,\r\n", b"1,nan,3.5,x\r\n", b"1,inf,3.5,x\r\n", b"1,181,3.5,x\r\n", b"1,3.5,-90.5,x\r\n", b"1,3.5\r\n"]


def thin(track: Path, mine: Path, out: Path, *more: str) -> Result:
    arguments = ["thin", str(track), "--zones", str(mine), "--epsilon", "1", "--out", str(out), *more]
    return CliRunner().invoke(cli, arguments)


def test_whole_records_leave_to_the_byte_and_rows_of_a_zone_by_coins(tmp_path: Path, mine: Path) -> None:
    track, out, kept = tmp_path / "track.csv", tmp_path / "upload.csv", records()
    mixed = [*kept[:300], *NOWHERE, *kept[300:]]
    track.write_bytes(HEADER + b"\r\n".join([b"", b""]) + b"".join(mixed))
    done = thin(track, mine, out)
    assert done.exit_code == 0, done.output
    sent = out.read_bytes()
    assert sent.startswith(HEADER)
    assert sent.endswith(b"".join(kept[600:]))  # all that is in no zone
    home = sent[len(HEADER) : -len(b"".join(kept[600:]))]
    left = [each for each in kept[:600] if each in home]
    assert home == b"".join(left)
    assert 0 < len(left) < 400  # of 600, by coins of 0.129
    assert f"{len(mixed)} read" in done.output.replace(",", "")
    assert f"never sent: {len(NOWHERE)}." in done.output


def test_what_is_printed_is_so(tmp_path: Path, mine: Path) -> None:
    track, out = tmp_path / "track.csv", tmp_path / "upload.csv"
    track.write_bytes(HEADER + b"".join(records()))
    words = " ".join(thin(track, mine, out).output.split())
    many = out.read_bytes().count(b"08:00,1.5")
    assert f"home 0.2 0.1289 600 {many}" in words
    assert "work 0.5 0.3775 0 0" in words
    assert "home 0.081 0.2 0.61 3 work" in words  # ln(1 + 0.12885(e^E - 1)) at E = 0.5, 1, 2, 5; never rounded down
    assert "No row lies in work. If one should, longitude and latitude may be exchanged" in words
    assert "No row lies in home" not in words
    for told in (
        "holds raw rows, for the collector",
        "those of your zones that leave too",
        "for each row alone",
        "Send one upload only",
        "mine.geojson at home",
    ):
        assert told in words


def test_a_zone_without_rows_is_told_whatever_others_of_its_epsilon_hold(tmp_path: Path) -> None:
    """Two of one epsilon, one of them written with its latitude first; and one that lies within a stricter one."""
    track, mine = tmp_path / "track.csv", tmp_path / "mine.geojson"
    track.write_bytes(b"lon,lat\n" + b"1.5,1.5\n" * 20 + b"2,40\n")
    clinic = zone("clinic", 0.2, 1, 2)
    clinic["geometry"] = {"type": "Polygon", "coordinates": [[[39, 1], [41, 1], [41, 3], [39, 3]]]}
    features = [zone("home", 0.2, 1, 2), clinic, zone("town", 0.5, 0, 2)]
    mine.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    words = " ".join(thin(track, mine, tmp_path / "upload.csv").output.split())
    assert "town 0.5 0.3775 0 0" in words
    assert "No row lies in clinic. If one should" in words


def test_an_upload_that_is_there_is_not_replaced_by_other_coins_unless_forced(tmp_path: Path, mine: Path) -> None:
    track, out = tmp_path / "track.csv", tmp_path / "upload.csv"
    track.write_bytes(HEADER + b"".join(records()))
    thin(track, mine, out)
    first = out.read_bytes()
    again = thin(track, mine, out)
    assert again.exit_code != 0
    assert "throws new coins" in str(again.exception)
    assert out.read_bytes() == first
    assert thin(track, mine, out, "--force").exit_code == 0
    assert out.read_bytes() != first  # 600 coins fell the same way with a chance below 10^-60


def test_tables_become_csv_and_tell_nothing_of_the_rows_that_stay(tmp_path: Path, mine: Path) -> None:
    """An Arrow dictionary and the metadata of pandas would still hold words and numbers of the rows at home."""
    places = [1.5] * 300 + [3.25] * 3
    frame = pd.DataFrame(
        {"longitude": places, "latitude": places, "who": pd.Categorical([f"w{i}" for i in range(303)])}
    )
    for name, write in (
        ("track.parquet", lambda path: pq.write_table(pa.Table.from_pandas(frame), path)),
        ("track.feather", lambda path: frame.to_feather(path)),
    ):
        write(tmp_path / name)
        out = tmp_path / f"{name}.csv"
        assert thin(tmp_path / name, mine, out).exit_code == 0
        sent = pd.read_csv(out)
        assert list(sent.columns) == ["longitude", "latitude", "who"]
        assert list(sent["who"])[-3:] == ["w300", "w301", "w302"]
        assert len(sent) < 200
        assert out.read_text().count("w") == len(sent) + 1


def test_a_column_that_a_csv_cannot_hold_is_refused(tmp_path: Path, mine: Path) -> None:
    track = tmp_path / "track.parquet"
    pq.write_table(pa.table({"lon": [1.5], "lat": [1.5], "tags": [["a"]]}), track)
    refused = thin(track, mine, tmp_path / "upload.csv")
    assert "'tags' holds lists" in str(refused.exception)
    assert not (tmp_path / "upload.csv").exists()


GPX = """<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lon="9" lat="9"/><trk><trkseg>
<trkpt lat="3.25" lon="3.5"><ele>4</ele><time> 2026-01-01T00:00:00Z </time></trkpt>
<trkpt lat="3.25"><time>late, "later"</time></trkpt><trkpt lat="3" lon="3.25"/></trkseg></trk></gpx>"""


def test_tracks_of_gpx_and_points_of_geojson_become_csv(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "track.gpx").write_text(GPX)
    points = [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [x, 3.25]}} for x in (3.5, 3.75)]
    (tmp_path / "track.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": points}))
    for name, content in (
        ("track.gpx", "lon,lat,time\n3.5,3.25,2026-01-01T00:00:00Z\n3.25,3,\n"),
        ("track.geojson", "lon,lat\n3.5,3.25\n3.75,3.25\n"),
    ):
        out = tmp_path / f"{name}.csv"
        assert thin(tmp_path / name, mine, out).exit_code == 0
        assert out.read_text() == content


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.gpx", '<gpx><rte><rtept lat="3" lon="3"/></rte><wpt lat="3" lon="3"/></gpx>', "no points of a track"),
        ("a.gpx", "<gpx><trk><trkseg><trkpt/></trkseg></trk></gpx>", "no point has a place"),
        ("a.json", '{"type": "FeatureCollection", "features": [{"geometry": {"coordinates": [[3, 3], [4, 3]]}}]}',
         "not lines or areas"),
        ("a.csv", 'lon,lat,"note\n1.5,1.5,home"\n3,3,x\n', "holds numbers, not names of columns"),
        ("a.csv", 'lon,lat,"note\nof home"\n3,3,x\n', "a name in the header line has several lines"),
    ],
)  # fmt: skip
def test_a_track_that_holds_no_rows_where_they_are_looked_for_says_so(
    tmp_path: Path, mine: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    assert words in str(thin(tmp_path / name, mine, tmp_path / "upload.csv").exception)
    assert not (tmp_path / "upload.csv").exists()


def test_the_time_of_a_point_is_its_own(tmp_path: Path, mine: Path) -> None:
    inner = "<time>08:00</time><extensions><phone><time>at home</time></phone></extensions>"
    (tmp_path / "a.gpx").write_text(f'<gpx><trk><trkseg><trkpt lat="3" lon="3">{inner}</trkpt></trkseg></trk></gpx>')
    thin(tmp_path / "a.gpx", mine, tmp_path / "upload.csv")
    assert (tmp_path / "upload.csv").read_text() == "lon,lat,time\n3,3,08:00\n"


def test_a_track_of_several_blocks_keeps_its_records_whole(tmp_path: Path, mine: Path) -> None:
    """Compressed, with cells of several lines, an empty line, no newline at the end, and a record beyond all bounds."""
    text = 'x, ""y""\n' * 40
    kept = [f'{i},3.25,3.25,"{text}"\n'.encode() for i in range(20_000)]
    far = b'7,3.25,3.25,"' + b"z" * 2**21 + b'"\n'  # a row of missing values, as every reader of Covey has it
    track, out = tmp_path / "track.csv.gz", tmp_path / "upload.csv"
    track.write_bytes(gzip.compress(b"id,lon,lat,note\n" + b"".join([*kept, b"\n", far, *kept])[:-1], compresslevel=1))
    done = thin(track, mine, out)
    assert "never sent: 1." in done.output
    assert out.read_bytes() == b"id,lon,lat,note\n" + b"".join([*kept, *kept])


@pytest.mark.parametrize("note", ['"open', 'in"side', '"closed" late'])
def test_a_row_that_may_carry_others_away_in_a_cell_is_refused(tmp_path: Path, mine: Path, note: str) -> None:
    track = tmp_path / "track.csv"
    track.write_bytes(HEADER + f"1,3.25,3.25,{note}\r\n".encode() + b"".join(records(3, 3)))
    refused = thin(track, mine, tmp_path / "upload.csv")
    assert "a quote in a row is misplaced or never closed" in str(refused.exception)
    assert not (tmp_path / "upload.csv").exists()


def damaged(content: bytes, pick: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(pick.randint(1, 4)):
        at = pick.randrange(len(found) + 1)
        found[at : at + pick.choice([0, 1, 30])] = pick.choice(
            [b"", b'"', b"\n", b"\x00", b"\xff", b"&", b"<", b"1e999", b"[" * 99]
        )
    return bytes(found)


def test_a_damaged_track_is_refused_or_read_and_never_sent_with_more_than_it_holds(tmp_path: Path, mine: Path) -> None:
    pick, table = random.Random(3), io.BytesIO()
    pq.write_table(pa.table({"lon": [3.25, 1.5], "lat": [3.25, 1.5]}), table)
    points = {"type": "FeatureCollection", "features": [{"geometry": {"coordinates": [3.25, 3.25]}}] * 3}
    good = {
        ".gpx": GPX.encode(),
        ".geojson": json.dumps(points).encode(),
        ".csv": HEADER + b"".join(records(3, 3)),
        ".parquet": table.getvalue(),
    }
    for i in range(400):
        ending = pick.choice(list(good))
        track, out = tmp_path / f"{i}{ending}", tmp_path / f"{i}.upload.csv"
        content = damaged(good[ending], pick)
        track.write_bytes(content)
        done = thin(track, mine, out)
        assert done.exit_code == 0 or isinstance(done.exception, CoveyError | SystemExit), (content, done.exception)
        assert out.exists() == (done.exit_code == 0)
        if out.exists() and ending == ".csv":
            assert all(line in content for line in out.read_bytes().splitlines())


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><gpx>&b;</gpx>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><gpx>&b;</gpx>',
        GPX[:200],
        "lon,lat\n1,2\n",
    ],
)
def test_a_document_that_is_no_plain_gpx_is_refused(tmp_path: Path, mine: Path, text: str) -> None:
    (tmp_path / "track.gpx").write_text(text)
    refused = thin(tmp_path / "track.gpx", mine, tmp_path / "upload.csv")
    assert "not a GPX document" in str(refused.exception)
    assert not (tmp_path / "upload.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lon", "lat"], "--lat: is the same column as the longitude, 'lat'"),
        (["--epsilon", "0.5"], "--zones: a zone's epsilon must be below"),
        (["--out", "upload.parquet"], "--out: what is sent is a CSV"),
        (["--out", "track.csv"], "is another file of this command"),
        (["--lon", "note"], "--lon, --lat: column 'note' is not numeric"),
        (["--lon", "east"], "--lon: name the column that is the longitude"),
        (["none.geojson"], "--zones: cannot read"),  # instead of the person's own
    ],
)
def test_what_is_refused_leaves_no_file(
    tmp_path: Path,
    mine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("track.csv").write_bytes(HEADER + b"".join(records()))
    zones, *more = arguments if len(arguments) == 1 else (mine.name, *arguments)
    with pytest.raises(SystemExit) as stopped:
        main(["thin", "track.csv", "--zones", zones, "--epsilon", "1", "--out", "upload.csv", *more])
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err
    assert {each.name for each in tmp_path.iterdir()} == {"track.csv", "mine.geojson"}


def test_several_files_are_no_track(tmp_path: Path, mine: Path) -> None:
    folder = tmp_path / "tracks"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_bytes(HEADER + b"".join(records()))
    for track in (folder, folder / "*.csv"):
        assert "one file" in str(thin(track, mine, tmp_path / "upload.csv").exception)


def test_a_track_as_spreadsheets_write_it(tmp_path: Path, mine: Path) -> None:
    track, out = tmp_path / "track.csv", tmp_path / "upload.csv"
    rows = [b"08:00;3,25;3,25\n", b"08:05;3,5;3,5\n"]
    track.write_bytes(b"my phone\ntime;lon;lat\n" + b"".join(rows))
    told = ("--header-line", "2")
    refused = thin(track, mine, out, *told)
    assert refused.exit_code == 2
    assert "--decimal ," in refused.output
    done = thin(track, mine, out, *told, "--decimal", ",")
    assert done.exit_code == 0, done.output
    assert out.read_bytes() == b"time;lon;lat\n" + b"".join(rows)


def test_two_files_of_zones_are_one_too_many(tmp_path: Path, mine: Path) -> None:
    track, out = tmp_path / "track.csv", tmp_path / "upload.csv"
    track.write_bytes(HEADER)
    done = thin(track, mine, out, "--zones", str(mine))
    assert done.exit_code == 2
    assert "--zones: is given 2 times; put all into one file" in done.output
    assert not out.exists()
