"""Idle nodes that are switched off."""
