"""Writes a benchmark's result as JSON with what it was measured on."""

import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("numpy", "torch", "websockets", "msgpack", "gymnasium", "mujoco", "stable_baselines3")


def record(name: str, result: dict[str, Any]) -> Path:
    """Write ``results/<name>.json``: the result, the machine, the versions and the commit."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    whole = {"machine": machine(), "versions": versions(), "commit": commit(), **result}
    path.write_text(json.dumps(whole, indent=1) + "\n")
    return path


def machine() -> dict[str, Any]:
    """Processor, cores, memory and system."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (cpuinfo.read_text().splitlines() if cpuinfo.exists() else [])
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Python's and those of the packages that matter for speed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def commit() -> str:
    """The commit measured, with a mark where the tree had changes."""
    described = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(described, capture_output=True, text=True, check=False).stdout.strip()
