"""Items for authoritative servers."""
