"""Drivers for resolvers, and for proxies, which forward to a resolver."""
