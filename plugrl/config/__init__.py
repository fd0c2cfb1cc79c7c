"""Frozen dataclasses and named variants of everything that can be configured; no torch."""
