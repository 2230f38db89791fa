"""Nodes that leave service and come back, by the events of a system."""
