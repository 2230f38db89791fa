"""Application scaling models: from a few small runs to a run time on any number of nodes of any module.

A tool of its own that knows nothing of scheduling: curves, trees of efficiencies, fits, profiles of
applications, and their expansion into run times.
"""
