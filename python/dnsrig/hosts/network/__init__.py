"""Network namespaces: what the kernel is told, links, rules, and the networks that the roles are verified in."""
