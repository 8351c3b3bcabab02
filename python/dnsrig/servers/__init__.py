"""Drivers: each configures, starts, watches and stops one kind of server under test."""
