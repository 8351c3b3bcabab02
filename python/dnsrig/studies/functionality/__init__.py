"""functionality: what servers, resolvers, proxies and paths do, beside JPRS-2010."""
