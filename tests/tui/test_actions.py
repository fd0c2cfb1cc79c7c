"""The registry of actions: every one can be done, has a key of its own, and is documented."""

import os
from pathlib import Path

import pytest

from plugrl_tui.actions import GROUPS, TITLES, bindings, every_action, tables
from plugrl_tui.app import PlugRLApp
from plugrl_tui.modals.box import Box
from plugrl_tui.modals.checkpoint import CheckpointPicker
from plugrl_tui.modals.starting import Starting
from plugrl_tui.modals.stop import StopBox
from plugrl_tui.screens.compare import CompareScreen
from plugrl_tui.screens.launch import LaunchScreen
from plugrl_tui.screens.monitor import MonitorScreen
from plugrl_tui.screens.runs import RunsScreen
from plugrl_tui.widgets.chart import ChartPane
from plugrl_tui.widgets.editor import Editor
from plugrl_tui.widgets.list_pane import ListPane
from plugrl_tui.widgets.log_view import LogView
from plugrl_tui.widgets.worker_table import WorkerTable

OWNERS = {
    "app": PlugRLApp,
    "runs": RunsScreen,
    "launch": LaunchScreen,
    "monitor": MonitorScreen,
    "compare": CompareScreen,
    "list": ListPane,
    "picker": CheckpointPicker,
    "starting": Starting,
    "workers": WorkerTable,
    "chart": ChartPane,
    "log": LogView,
    "stop": StopBox,
    "editor": Editor,
    "box": Box,
}
PAGE = Path(__file__).parents[2] / "docs" / "tui.md"


@pytest.mark.parametrize("group", GROUPS)
def test_every_action_has_a_method(group):
    for action in GROUPS[group]:
        assert callable(getattr(OWNERS[group], f"action_{action.method}", None)), action.id


def test_ids_are_unique_and_name_their_group():
    actions = list(every_action())
    assert len({action.id for action in actions}) == len(actions)
    for group, members in GROUPS.items():
        assert {action.group for action in members} == {group}


def test_every_group_has_a_title():
    assert list(TITLES) == list(GROUPS)


@pytest.mark.parametrize("group", GROUPS)
def test_no_key_means_two_things_in_one_place(group):
    keys = [key for action in GROUPS[group] for key in action.keys.split(",")]
    assert len(set(keys)) == len(keys)


def test_help_is_a_sentence():
    for action in every_action():
        assert action.help[0].isupper(), action.id
        assert action.help.endswith("."), action.id


def test_no_essential_key_is_one_that_tmux_or_a_terminal_takes():
    taken = {"ctrl+b", "ctrl+c", "ctrl+z", "ctrl+s", "ctrl+q", "ctrl+j", "ctrl+m"}
    for action in every_action():
        assert not taken & set(action.keys.split(",")), action.id


def test_bindings_carry_the_id_by_which_a_person_gives_other_keys():
    assert {binding.id for binding in bindings("monitor")} == {a.id for a in GROUPS["monitor"]}


def test_the_page_has_the_tables_of_all_groups():
    """``PLUGRL_UPDATE_GOLDEN=1`` writes them anew."""
    before, start, rest = PAGE.read_text("utf-8").partition("<!-- keys -->\n")
    _, stop, after = rest.partition("<!-- /keys -->")
    page = f"{before}{start}{tables()}\n{stop}{after}"
    if os.environ.get("PLUGRL_UPDATE_GOLDEN"):
        PAGE.write_text(page, "utf-8")
    assert PAGE.read_text("utf-8") == page
    assert start
    assert stop
