"""PlugRL: train a policy on one machine with environments that run anywhere."""

__version__ = "0.1.0"
