"""From what a person typed to the feed of a run."""

import os
from dataclasses import replace
from typing import NamedTuple

from plugrl_tui.core.feed import Access, Feed, is_url, server_url
from plugrl_tui.core.model import RunModel

API_KEY_VARIABLE = "PLUGRL_API_KEY"
"""As in ``plugrl.config.server``, which the first picture does not wait for; a test compares."""
DEMO = "demo"
"""A target that is no run: made-up news, for a first look."""


class Attached(NamedTuple):
    """A run's model, and what will feed it."""

    model: RunModel
    feed: Feed


def attach(target: str, access: Access | None = None) -> Attached:
    """A model and a feed for a URL, a run's name or its folder; nothing is connected to yet.

    Raises:
        UsageError: there is no such run, or it is no address of a server.
    """
    access = access or Access()
    if access.api_key is None:
        access = replace(access, api_key=os.environ.get(API_KEY_VARIABLE) or None)
    if target == DEMO:
        from plugrl_tui.core.feed_demo import DemoFeed

        return Attached(RunModel(DEMO), DemoFeed())
    if is_url(target):
        from plugrl_tui.core.feed_live import LiveFeed

        url = server_url(target)
        return Attached(RunModel(url, url=url), LiveFeed(url, access))
    from plugrl.runs.catalog import find_run
    from plugrl_tui.core.feed_folder import FolderFeed

    found = find_run(target)
    model = RunModel(found.record.exp_name)
    model.record, model.status, model.folder = found.record, found.status, str(found.path)
    return Attached(model, FolderFeed(found.path, access))
