"""``python -m plugrl_tui``."""

from plugrl_tui.cli import main

if __name__ == "__main__":
    main()
