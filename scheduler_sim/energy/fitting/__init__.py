"""Fitting energy models to measured points, and how well they project workloads never seen."""
