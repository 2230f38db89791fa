"""The study of energy: what each way to save some costs in waiting, on the DEEP-EST prototype.

``python -m analysis.energy`` runs it and writes ``analysis/energy.md`` with its figures and tables. The
rooms: ``cases`` (what is run), ``conduct`` (all runs, to a table), ``findings`` (sentences that the runs
bear out), ``figures`` and ``page``.
"""
