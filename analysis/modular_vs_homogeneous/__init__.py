"""The study of D2.3, section 3.3: for the same money, is a modular system better than a homogeneous one?

``python -m analysis.modular_vs_homogeneous`` runs it and writes ``analysis/modular_vs_homogeneous.md``
with its figures and tables. The rooms: ``cases`` (what is run), ``conduct`` (all runs, to a table),
``claims`` (what D2.3 says, beside it what was found), ``identity`` (what its figures say of one
another), ``figures`` and ``page``.
"""
