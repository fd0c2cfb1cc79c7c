"""What fills the terminal; opened by name, see ``plugrl_tui.screens.base``."""
