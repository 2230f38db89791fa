"""Placements: the ways in which each component may run, as the engine will see them."""
