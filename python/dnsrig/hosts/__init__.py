"""Where processes run."""
