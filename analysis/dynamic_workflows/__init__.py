"""The study of D2.3, section 3.4: dynamic workflows in five scenarios, and what lies beyond it.

``python -m analysis.dynamic_workflows`` runs it and writes ``analysis/dynamic_workflows.md`` with its
figures and tables. The rooms: ``cases`` (what is run), ``measures`` (what is measured of a run),
``conduct`` (all runs, to a table), ``statements`` (what D2.3 says, beside it what was found),
``findings`` (what can be concluded), ``figures`` and ``page``.
"""
