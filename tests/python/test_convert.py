"""Scenarios made of files of other tools: HAR files, graphs of networks."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate as api
from tidegate.errors import TidegateError
from tidegate.scenario import made
from tidegate.scenario.made.graph import LinkDefaults

if TYPE_CHECKING:
    from pathlib import Path


def entry(url: str, second: float, size: int, **more: object) -> dict[str, Any]:
    """Return an entry of HAR 1.2 whose answer has `size` bytes, 200 of them headers."""
    timings = {"connect": -1, "ssl": -1, "send": 0, "wait": 50, "receive": 10}
    timings |= {key: more.pop(key) for key in ("connect", "ssl") if key in more}
    return {
        "startedDateTime": f"2026-01-31T12:00:{second:06.3f}+00:00",
        "time": 60,
        "request": {"url": url, "headersSize": 400, "bodySize": 0},
        "response": {
            "status": 200,
            "httpVersion": "HTTP/1.1",
            "headersSize": 200,
            "bodySize": size - 200,
            "content": {"size": 3 * size},
        },
        "timings": timings,
        **more,
    }


def har() -> dict[str, Any]:
    one, two = "https://a.example", "https://b.example"
    return {
        "log": {
            "version": "1.2",
            "pages": [{"id": "p1"}, {"id": "p2"}],
            "entries": [
                entry(f"{one}/", 0.0, 50_000, pageref="p1", connection="1", connect=60, ssl=30),
                entry(f"{one}/1.png", 0.2, 10_000, pageref="p1", connection="1"),
                entry(f"{two}/2.png", 0.21, 20_000, pageref="p1", connection="2"),
                entry("data:image/png;base64,AA", 0.21, 9_000, pageref="p1"),
                entry(f"{one}/next", 5.0, 30_000, pageref="p2", connection="1"),
            ],
        }
    }


def converted(
    tmp_path: Path, name: str, content: object, given: LinkDefaults | None = None
) -> made.Made:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return made.of_file(file, given)


def test_each_page_of_a_har_file_becomes_a_class(tmp_path: Path) -> None:
    """By hand: the handshake took 60 ms, 30 of them TLS; the server 50 - 30 ms."""
    found = converted(tmp_path, "a.har", har())
    scenario = tomllib.loads(found.files["a.toml"])
    assert scenario["traffic"]["page1"]["pages"] == {
        "document": "50000B",
        "objects": 2,
        "connections": 2,
        "server": "20ms",
        "request": "400B",
    }
    assert scenario["traffic"]["page1"]["arrivals"] == {"at": ["0ms"]}
    assert scenario["traffic"]["page2"]["arrivals"] == {"at": ["5000ms"]}
    assert scenario["traffic"]["page2"]["size"] == "30000B"
    # half of the round trip, less the two links of the hosts
    assert scenario["topology"]["dumbbell"]["bottleneck"]["delay"] == "14800us"
    # each of the two sizes has a half, and nothing lies between them
    steps = "size_bytes,probability\n10000,0.5\n20000,0.5\n20000,1\n"
    assert found.files["a-1.csv"] == steps
    assert "1 answer is left out: of data addresses" in found.said


def test_the_scenario_of_a_har_file_loads_its_pages(tidegate, tmp_path):
    file = tmp_path / "a.har"
    file.write_text(json.dumps(har()))
    done = tidegate("convert", str(file), "--out", str(tmp_path / "a"))
    assert done.returncode == 0, done.stderr
    pages = api.run(tmp_path / "a/a.toml").pages
    assert pages["objects"].to_list() == [3, 1]
    assert pages["size_bytes"][1] == 30_000
    assert pages["loaded_s"].null_count() == 0
    again = tidegate("convert", str(file), "--out", str(tmp_path / "a"))
    assert again.returncode == 2
    assert "is there already" in again.stderr


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        # Chromium's own key comes first, then headers and body, then the body unpacked
        ({"_transferSize": 1234}, 1234),
        ({}, 50_000),
        ({"headersSize": -1}, 49_800),
        ({"headersSize": -1, "bodySize": -1}, 150_000),
    ],
)
def test_what_of_an_answer_crossed_the_network(
    tmp_path: Path, change: dict[str, int], wanted: int
) -> None:
    log = har()
    log["log"]["entries"] = log["log"]["entries"][:1]
    log["log"]["entries"][0]["response"] |= change
    traffic = tomllib.loads(converted(tmp_path, "a.har", log).files["a.toml"])["traffic"]
    assert traffic["page1"]["size"] == f"{wanted}B"


NODES = [
    {"id": 0, "name": "Paris", "pos": [2.3522, 48.8566]},
    {"id": 1, "name": "London", "pos": [-0.1278, 51.5074]},
    {"id": 2, "name": "London"},
]


def test_a_graph_becomes_links_with_the_delay_of_fibre(tmp_path: Path) -> None:
    """Paris and London are 343.6 km apart on a sphere of 6371 km: 1.718 ms at 5 us a km."""
    links = [
        {"source": 0, "target": 1, "LinkSpeedRaw": 1e10},
        {"source": 1, "target": 2, "dist": 100},
        {"source": 2, "target": 2, "dist": 1},
    ]
    graph = {"nodes": [*NODES, {"id": 9}], "links": links}
    found = converted(tmp_path, "net.json", graph, LinkDefaults(rate="1Gbit"))
    made_of = tomllib.loads(found.files["net.toml"])["topology"]["links"]
    paris, london, other = "Paris", "London 1", "London 2"
    assert made_of == {
        f"{paris}-{london}": {
            "from": paris,
            "to": london,
            "rate": "10000000000bit",
            "delay": "1718us",
        },
        f"{london}-{other}": {"from": london, "to": other, "rate": "1Gbit", "delay": "500us"},
    }
    assert "1 of 2 links have the rate 1Gbit" in found.said
    assert "1 node without a link is left out" in found.said
    (tmp_path / "net.toml").write_text(found.files["net.toml"])
    assert api.run(tmp_path / "net.toml").flows.height > 0


def test_two_directions_of_a_link_keep_their_rates(tmp_path: Path) -> None:
    """An ADSL line: 16 Mbit/s one way and 1 the other; where one is missing it is as the other."""
    links = [
        {"source": 0, "target": 1, "dist": 200, "LinkSpeedRaw": 16e6},
        {"source": 1, "target": 0, "LinkSpeedRaw": 1e6, "dist": 200},
        {"source": 1, "target": 2, "dist": 200},
        {"source": 2, "target": 1, "LinkSpeedRaw": 3e6},
    ]
    found = converted(tmp_path, "net.json", {"directed": True, "nodes": NODES, "links": links})
    made_of = tomllib.loads(found.files["net.toml"])["topology"]["links"]
    assert made_of["Paris-London 1"]["rate"] == "16000000bit"
    assert made_of["Paris-London 1"]["reverse"] == {"rate": "1000000bit"}
    assert made_of["London 1-London 2"]["rate"] == "3000000bit"
    assert "reverse" not in made_of["London 1-London 2"]


def test_names_that_would_be_the_same_stay_apart(tmp_path: Path) -> None:
    """Labels and identities, and the titles of links, may read alike when they are joined."""
    labels = {"1": "A", "2": "A", "3": "A 1", "4": "b", "5": "b 2", "6": ""}
    nodes = [{"id": key, "label": label} for key, label in labels.items()]
    nodes += [{"id": "", "label": ""}, {"id": "\ud800", "name": "\ud800"}]
    pairs = ["12", "13", "45", "34", "34", "35"]
    links = [{"source": one, "target": two, "dist": 9} for one, two in pairs]
    links += [{"source": "", "target": "6", "dist": 9}, {"source": "\ud800", "target": "6"}]
    given = LinkDefaults("1Gbit", "1ms")
    found = converted(tmp_path, "net.json", {"nodes": nodes, "links": links}, given)
    made_of = tomllib.loads(found.files["net.toml"])["topology"]["links"]
    assert len(made_of) == len(links)
    ends = {end for link in made_of.values() for end in (link["from"], link["to"])}
    assert len(ends) == len(nodes)
    assert "" not in ends


def test_the_document_comes_after_redirections(tmp_path: Path) -> None:
    """The 300 bytes that say where the page is are no document; their handshake is a round trip."""
    log = har()
    moved = entry("http://a.example/", 0.0, 300, pageref="p1", connect=40, connection="9")
    moved["response"]["status"] = 301
    log["log"]["entries"][0] |= {"startedDateTime": "2026-01-31T12:00:00.1+00:00"}
    log["log"]["entries"].insert(0, moved)
    found = converted(tmp_path, "a.har", log)
    pages = tomllib.loads(found.files["a.toml"])["traffic"]["page1"]["pages"]
    assert (pages["document"], pages["objects"], pages["connections"]) == ("50000B", 2, 2)
    assert "Round trip: 30 ms" in found.files["a.toml"]
    said = "1 answer is left out: a redirection to the document, whose time is not kept"
    assert said in found.said


def test_names_of_files_are_no_part_of_the_scenario_s_text(tidegate, tmp_path):
    """A line break would end the comment; a command with a space has to be quoted in a shell."""
    file = tmp_path / "my\nname = 1.har"
    file.write_text(json.dumps(har()))
    made.of_file(file)
    file = tmp_path / "my page.har"
    file.write_text(json.dumps(har()))
    done = tidegate("convert", str(file), "--out", str(tmp_path / "a b"))
    assert done.returncode == 0, done.stderr
    assert "check 'a b/my page.toml'" in done.stderr


def test_options_of_graphs_are_refused_for_a_har_file(tidegate, tmp_path):
    """The scenario would not have them."""
    file = tmp_path / "a.har"
    file.write_text(json.dumps(har()))
    done = tidegate("convert", str(file), "--rate", "5Mbit", "--out", str(tmp_path / "a"))
    assert done.returncode == 2
    assert "write the link into the scenario" in done.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("kind", ["graphml", "gml"])
def test_graphml_and_gml_say_the_same(tmp_path: Path, kind: str) -> None:
    import networkx

    graph = networkx.Graph()
    graph.add_node(0, Latitude=48.8566, Longitude=2.3522)
    graph.add_node(1, Latitude=51.5074, Longitude=-0.1278)
    graph.add_edge(0, 1, LinkSpeedRaw=10_000_000_000.0)
    getattr(networkx, f"write_{kind}")(graph, tmp_path / f"net.{kind}")
    found = made.of_file(tmp_path / f"net.{kind}").files["net.toml"]
    ends = 'from = "0", to = "1"' if 'from = "0"' in found else 'from = "1", to = "0"'
    assert f'{{ {ends}, rate = "10000000000bit", delay = "1718us" }}' in found


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.har", "{", "line 1"),
        ("a.har", "{}", "neither a `log`"),
        ("a.har", {"log": {"entries": []}}, "no answer of a server"),
        ("a.har", {"log": {"entries": [{}]}}, "`log.entries[0].request` is missing"),
        ("a.har", {"log": {"entries": [entry("http://[::1", 0, 9)]}}, "url` is no address"),
        ("a.har", {"log": {"entries": [entry("http://a", 0, 10**17)]}}, "run.*out of range"),
        ("a.har", '{"log": ' + "9" * 5000 + "}", "too many digits"),
        ("a.json", {"nodes": NODES, "links": []}, "no links"),
        (
            "a.json",
            {"nodes": NODES, "links": [{"source": 0, "target": 1, "LinkSpeedRaw": 1e30}]},
            "out of range",
        ),
        (
            "a.json",
            {"nodes": NODES, "links": [{"source": 0, "target": 1, "LinkSpeedRaw": 10**400}]},
            "--rate 10Gbit",
        ),
        ("a.json", {"nodes": NODES, "links": [{"source": 0, "target": 7}]}, "no node 7"),
        ("a.json", {"nodes": NODES, "links": [{"source": 0, "target": 1}]}, "--rate 10Gbit"),
        ("a.graphml", "<graphml", "Could not read"),
        ("a.gml", "graph [", "Could not read"),
    ],
)
def test_a_file_that_is_not_understood_says_where(
    tmp_path: Path, name: str, content: object, words: str
) -> None:
    with pytest.raises(TidegateError, match=r"(?s)" + words.replace("[", r"\[")):
        converted(tmp_path, name, content)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["log", "entries", "request", "response", "url", "nodes", "links", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(content=JSON)
def test_any_json_is_refused_or_makes_a_scenario(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        found = converted(folder, "any.json", content)
    except TidegateError:
        return
    tomllib.loads(found.files["any.toml"])
