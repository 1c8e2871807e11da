"""The study of users: which gate loads their pages, and what each part of tide by clients does."""

from __future__ import annotations

from tidegate.papers.case import keyed
from tidegate.studies.study import Study
from tidegate.studies.users.cases import cases
from tidegate.studies.users.page import pages

STUDY = Study(
    key="users",
    title="Which gate loads the pages of users, and what each part of tide by clients does",
    package=__name__,
    cases=keyed(cases()),
    pages=pages,
    seeds=3,
)
