"""Verification of functionality: what items are made of, how they ask, and how they are run."""
