"""Prefect flows that start, retry, resume and remember runs."""
