"""What items are run against: a server, a resolver, a proxy or a path, and what is known of it."""
