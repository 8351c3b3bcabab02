"""The signers that the study runs, one a module."""
