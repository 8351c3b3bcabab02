"""The upstream server of the rig for the roles `proxy` and `path`: it answers by what a name says, and records."""
