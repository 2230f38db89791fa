"""Advance reservations of operators: nodes kept for some users from a time on."""
