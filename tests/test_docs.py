"""What the pages say of names, held against the code."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from plugrl.algorithms.evaluation import EvaluationResult
from plugrl.config.dummy import DummyConfig
from plugrl.registry import ALGORITHMS, ENVS, POLICIES, Registry

METRIC = r"(?:rollout|train|policy|eval|server|time)/[a-z_]+"
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z.-]*[a-z]")


@pytest.fixture
def root(request: pytest.FixtureRequest) -> Path:
    return request.config.rootpath


@pytest.fixture
def pages(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *(root / "docs").glob("*.md")]


def test_the_page_of_metrics_has_all_that_are_emitted_and_no_other(root: Path) -> None:
    code = "".join(path.read_text() for path in (root / "plugrl").rglob("*.py"))
    emitted = set(re.findall(rf'"({METRIC})"', code))
    assert len(emitted) > 20
    assert set(re.findall(METRIC, (root / "docs/metrics.md").read_text())) == emitted


def test_every_link_leads_somewhere(pages: list[Path]) -> None:
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^):]+)\)", page.read_text())
        if not (page.parent / link.partition("#")[0]).exists()
    ]
    assert broken == []


def test_every_flag_that_a_page_names_is_one(root: Path, pages: list[Path]) -> None:
    known = {
        *(flag for file in (root / "tests").glob("*/golden/*.txt") for flag in _flags(file)),
        "--help",
        *_config_flags("policy", POLICIES),
        *_config_flags("algo", ALGORITHMS),
        *_config_flags("env", ENVS),
    }
    unknown = {(page.name, flag) for page in pages for flag in _flags(page)}
    assert {(page, flag) for page, flag in unknown if flag not in known} == set()


def test_every_module_that_a_page_names_exists(root: Path, pages: list[Path]) -> None:
    named = {
        path
        for page in pages
        for path in re.findall(r"`((?:plugrl|tests|examples)/[\w/]+\.py)`", page.read_text())
    }
    assert {path for path in named if "NAME" not in path and not (root / path).exists()} == set()


@pytest.mark.parametrize(
    ("page", "described"), [("eval.md", EvaluationResult), ("dummy.md", DummyConfig)]
)
def test_a_table_of_fields_has_all_of_them_and_no_other(
    root: Path, page: str, described: type
) -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", (root / "docs" / page).read_text(), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == {f.name for f in fields(described)}


def _flags(file: Path) -> set[str]:
    return set(FLAG.findall(file.read_text()))


def _config_flags(prefix: str, registry: Registry) -> Iterator[str]:
    for uid in registry.uids():
        for config in registry.variants(uid).values():
            for item in fields(config):
                name = item.name.replace("_", "-")
                yield from (f"--{prefix}.{name}", f"--{prefix}.no-{name}")
