from importlib.metadata import version

from plugrl.training.versions import versions


def test_what_is_not_installed_has_no_version():
    found = versions("numpy", "no-such-package")
    assert found.keys() == {"plugrl", "python", "numpy"}
    assert found["numpy"] == version("numpy")
