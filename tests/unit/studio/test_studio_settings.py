"""The parts of the studio that need no web server: buckets, settings, ports, base maps, kinds and names of uploads."""

from __future__ import annotations

import json
import pickle

import pytest

from covey.errors import DataError, FormatError, ParameterError
from covey.studio.app import page_files
from covey.studio.guard import Bucket, content_policy
from covey.studio.serve import listen, read_basemap
from covey.studio.settings import Settings, new_token
from covey.studio.uploads import shown_name, sniff
from studio_client import asking

# --- guard and settings -----------------------------------------------------------------------------------------------


def test_a_bucket_lets_a_burst_through_and_then_its_rate():
    now = [0.0]
    bucket = Bucket(2.0, 3.0, clock=lambda: now[0])
    assert [bucket.wait() for _ in range(3)] == [0.0] * 3
    assert bucket.wait() == pytest.approx(0.5)
    now[0] = 0.5
    assert bucket.wait() == 0.0
    assert bucket.wait() > 0


def test_the_content_policy_names_another_origin_only_if_given():
    assert "http" not in content_policy(None)
    policy = content_policy("https://tiles.example")
    assert "connect-src 'self' https://tiles.example" in policy
    assert "script-src 'self';" in policy


def test_tokens_are_long_and_different():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) == 32


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_listening_on_every_address_is_not_offered(host):
    with pytest.raises(ParameterError, match="one address"):
        Settings(host=host)


def test_hosts_are_loopback_names_or_the_given_one_alone():
    assert Settings(port=8000).hosts == {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"}
    assert Settings(host="192.0.2.7", port=8000).hosts == {"192.0.2.7:8000"}
    assert not Settings(host="192.0.2.7").is_loopback
    assert Settings(host="::1", port=1).address.startswith("http://[::1]:1/")


def test_settings_do_not_print_the_token_or_the_data():
    settings = Settings(data=[[0.123456789]])
    assert settings.token not in repr(settings)
    assert "0.1234" not in repr(settings)


def test_a_port_in_use_is_refused_in_words():
    with listen("127.0.0.1", 0) as first:
        first.listen(1)
        with pytest.raises(ParameterError, match=r"^port: cannot listen .*; choose another one"):
            listen("127.0.0.1", first.getsockname()[1])


# --- base maps --------------------------------------------------------------------------------------------------------


def test_base_maps(tmp_path):
    assert read_basemap(None).kind == "bundled"
    assert read_basemap("none").kind == "none"
    style = read_basemap("https://Maps.example:8443/style.json?key=1")
    assert (style.kind, style.origin) == ("style", "https://maps.example:8443")
    assert read_basemap("http://maps.example/city.geojson").kind == "geojson"
    file = tmp_path / "streets.json"
    file.write_text(json.dumps({"version": 8, "sources": {}, "layers": []}))
    assert (read_basemap(str(file)).kind, read_basemap(str(file)).url) == ("style", "api/basemap")
    file.write_text(json.dumps({"type": "FeatureCollection", "features": []}))
    assert read_basemap(str(file)).kind == "geojson"


@pytest.mark.parametrize("bad", ["javascript://x", "https://a b/", "https://a;script-src *", "https://u:p@a/"])
def test_an_address_that_could_change_the_policy_is_refused(bad):
    with pytest.raises(ParameterError, match="basemap"):
        read_basemap(bad)


def test_a_file_that_is_no_base_map_is_refused(tmp_path):
    file = tmp_path / "x.json"
    for content in ("[1]", "{}", "nonsense"):
        file.write_text(content)
        with pytest.raises(FormatError, match="basemap"):
            read_basemap(str(file))
    with pytest.raises(DataError, match="cannot read"):
        read_basemap(str(tmp_path / "none.json"))


# --- uploads ----------------------------------------------------------------------------------------------------------


def test_kinds_are_found_by_content(tmp_path):
    file = tmp_path / "x"
    for content, name, ending in (
        *((b"PAR1....", "a.csv", ".parquet"), (b' {"type"', "a", ".geojson"), (b"lon,lat\n1,2\n", "a.parquet", ".csv")),
        *((b"PK\x03\x04", "a.xlsx", ".xlsx"), (b"PK\x03\x04", "a.csv", ".zip"), (b"SQLite format 3\0", "a", ".gpkg")),
        *(
            (b'{"lon": 1}', "a.JSONL", ".jsonl"),
            (b"lon\tlat\n", "a.tsv", ".tsv"),
            (b"ARROW1\0\0", "a.feather", ".arrow"),
        ),
    ):
        file.write_bytes(content)
        assert sniff(file, name) == ending
    for content in (pickle.dumps({"a": 1}), b"\x93NUMPY\x01\x00", b"  "):
        file.write_bytes(content)
        with pytest.raises(DataError, match="data:"):
            sniff(file, "a.csv")


def test_a_clients_name_is_text_only():
    assert shown_name("../../etc/passwd") == "passwd"
    assert shown_name("C:\\x\\trips.csv") == "trips.csv"
    assert shown_name("\x00\n") == "upload"
    assert len(shown_name("a" * 1000)) == 120


def test_a_file_of_tiles_is_served_by_ranges_and_assets_are_kept_and_compressed(tmp_path):
    file = tmp_path / "city.pmtiles"
    file.write_bytes(b"PMTiles\x03" + bytes(range(100)))
    studio = asking(tmp_path, data=None, basemap=read_basemap(str(file)))
    assert studio.get("api/state").json()["basemap"] == {"kind": "pmtiles", "url": "api/basemap"}
    part = studio.get("api/basemap", headers={"Range": "bytes=8-11"})
    assert (part.status_code, part.content) == (206, bytes(range(4)))
    assert part.headers["cache-control"] == "no-store"
    file.with_name("wrong.pmtiles").write_bytes(b"PMTiles\x02")
    with pytest.raises(FormatError, match="version 3"):
        read_basemap(str(file.with_name("wrong.pmtiles")))
    with pytest.raises(DataError, match="cannot read"):
        read_basemap(str(tmp_path / "none.pmtiles"))
    if "assets/versions.json" in page_files():
        asset = studio.get("assets/versions.json", headers={"Accept-Encoding": "gzip"})
        assert asset.headers["content-encoding"] == "gzip"
        assert "immutable" in asset.headers["cache-control"]
        assert "maplibre-gl" in asset.json()
    assert studio.get("index.html").headers["cache-control"] == "no-store"
