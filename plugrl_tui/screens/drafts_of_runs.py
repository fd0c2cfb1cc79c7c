"""From a run to a draft, with the plug-ins that its command names."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugrl.runs.catalog import FoundRun
    from plugrl_tui.app import PlugRLApp
    from plugrl_tui.core.draft import Draft


async def draft_from(
    app: "PlugRLApp", run: "FoundRun", make: "Callable[[FoundRun], Draft]"
) -> "Draft | None":
    """What ``make`` makes of a run; None where its command can't be read, which the app tells."""
    from plugrl_tui.core import command_line, plugins

    name, imports = run.record.exp_name, command_line.imports_in(run.record.argv)
    if plugins.is_pending(imports):
        if imports:
            app.notify(f"importing {', '.join(imports)}")
        await plugins.load(imports)
    try:
        if imports and (reason := plugins.refusal(imports)) is not None:
            plugins.forget(imports)  # they may be there the next time
            reason = reason.replace("--import ", "")
            words = f"{reason}; start plugrl-tui in the folder where {name} was started"
            raise command_line.CommandError(words)
        return make(run)
    except command_line.CommandError as error:
        app.complain(f"{name}'s command can't be read: {error}")
        return None
