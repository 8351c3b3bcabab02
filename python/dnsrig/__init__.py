"""dnsrig: verify what DNS servers, resolvers and proxies do, and measure what it costs."""
