"""docs/ppo.md numbers PPO's details; the code names each by its number."""

import re
from pathlib import Path

import pytest

DETAILS = [("core", n) for n in range(1, 14)] + [("continuous", n) for n in range(1, 10)]


@pytest.fixture
def root(request: pytest.FixtureRequest) -> Path:
    return request.config.rootpath


@pytest.mark.parametrize(("kind", "number"), DETAILS)
def test_a_detail_is_found_in_the_code_by_its_number(root: Path, kind: str, number: int) -> None:
    sources = [*(root / "plugrl/algorithms").glob("*.py"), *(root / "plugrl/policies").glob("*.py")]
    assert any(re.search(rf"\b{kind} {number}\b", s.read_text()) for s in sources)


def test_every_place_that_the_table_names_exists(root: Path) -> None:
    page = (root / "docs/ppo.md").read_text()
    rows = re.findall(r"^\| \d+ \|.*\| ([^|]+) \|$", page, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([A-Za-z_]+)", row)}
    code = "".join(path.read_text() for path in (root / "plugrl").rglob("*.py"))
    assert len(rows) == len(DETAILS)
    assert {name for name in names if not re.search(rf"(class|def) {name}\b", code)} == set()
