"""The study of a site's rules: what a quota, preemption, maintenance and placement cost whom.

``python -m analysis.site_rules`` runs it and writes ``analysis/site_rules.md`` with its figure and tables.
The rooms: ``cases`` (the site, its jobs, and the rules), ``conduct`` (all runs, to a table), ``measures``
(who is who, and what is measured of them), ``findings`` (sentences that the runs bear out), ``figures`` and
``page``.
"""
