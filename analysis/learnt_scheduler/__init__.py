"""The study of learnt schedulers: do they wait less on traces that training never saw?

``python -m analysis.learnt_scheduler`` runs it and writes ``analysis/learnt_scheduler.md`` with its figure
and tables. The rooms: ``agents`` (what was learnt, in NumPy, from ``weights``), ``train_linear`` and
``train_ppo`` (how), ``cases`` (on what they are trained, and on what they are compared), ``conduct`` (all
runs, to a table), ``findings`` (sentences that the runs bear out), ``figures`` and ``page``.
"""
