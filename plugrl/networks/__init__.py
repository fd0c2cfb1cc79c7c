"""Torch modules that policies are made of."""
