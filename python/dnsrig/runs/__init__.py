"""Runs: stored executions of a study."""
