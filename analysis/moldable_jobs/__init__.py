"""The study of moldable jobs: if the scheduler may choose the size of a job, does it pay, and for whom?

``python -m analysis.moldable_jobs`` runs it and writes ``analysis/moldable_jobs.md`` with its figures and
tables. The rooms: ``cases`` (what is run), ``conduct`` (all runs, to a table), ``findings`` (sentences that
the runs bear out), ``figures`` and ``page``.
"""
