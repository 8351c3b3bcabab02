"""Pages and comparisons of traffic's statistics."""
