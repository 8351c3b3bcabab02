"""Verifications as people and programs read them."""
