"""The study of what helps today: which control, on which link, against which overload."""

from __future__ import annotations

from tidegate.papers.case import keyed
from tidegate.studies.study import Study
from tidegate.studies.today.cases import cases
from tidegate.studies.today.page import pages

STUDY = Study(
    key="today",
    title="Which control helps on a link of today",
    package=__name__,
    cases=keyed(cases()),
    pages=pages,
    seeds=3,
    keep=("start_s", "closed_s", "size_bytes"),
)
