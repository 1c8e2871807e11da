"""Pictures are there, not blank, and their labels do not cover each other."""

import io
import xml.etree.ElementTree as ET
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidegate
from tidegate.show.style import spread


def drawn(overload):
    from tidegate.show.pictures import pictures

    return pictures(tidegate.compare(overload, gates=["none", "close-probe"], seeds=2))


@pytest.fixture(scope="module")
def files(overload):
    return drawn(overload)


def test_every_picture_comes_as_png_and_svg(files):
    assert sorted(files) == sorted(
        f"{name}.{form}"
        for name in ("fct-distribution", "rates-over-time", "controls-side-by-side")
        for form in ("png", "svg")
    )


def test_pngs_are_not_blank(files):
    for name, content in files.items():
        if name.endswith(".png"):
            pixels = matplotlib.image.imread(io.BytesIO(content), format="png")
            assert min(pixels.shape[:2]) > 300
            # Between a nearly empty sheet and a black one.
            assert 0.005 < np.mean(pixels[..., :3].min(axis=2) < 0.9) < 0.6


def test_svgs_name_every_control_in_text(files):
    for name, content in files.items():
        if name.endswith(".svg"):
            words = " ".join(ET.fromstring(content).itertext())
            assert "none" in words
            assert "close-probe" in words


@pytest.mark.slow
def test_the_same_data_give_the_same_files(overload, files):
    assert drawn(overload) == files


@pytest.mark.pictures
def test_plot_writes_into_a_folder(overload, tmp_path):
    comparison = tidegate.compare(overload, gates=["none", "fixed-rate:10"], seeds=1)
    paths = comparison.plot(tmp_path / "pictures")
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.slow
def test_pictures_of_a_link_where_nothing_was_served(overload):
    # The acknowledgement of a FIN cannot be back within three round trips of 10 s.
    settings = {"topology.dumbbell.bottleneck.delay": "5s"}
    comparison = tidegate.compare(overload, gates=["none"], seeds=1, settings=settings)
    assert comparison.averages[0]["completed"]["mean"] == 0

    from tidegate.show.pictures import pictures

    assert len(pictures(comparison)) == 6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_labels_keep_their_order_and_their_distance(heights):
    places = spread(heights, 0.1)
    order = sorted(range(len(heights)), key=lambda each: heights[each])
    for below, above in pairwise(order):
        assert places[above] - places[below] >= 0.1 - 1e-9
