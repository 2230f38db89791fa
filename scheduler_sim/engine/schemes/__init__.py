"""Schemes: passes over the queue."""
