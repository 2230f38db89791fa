"""Job traces: one table of components, and the file formats it is read from and written to.

A trace becomes a :class:`~scheduler_sim.workload.table.Workload`: one row a component, in
file order, times in integer seconds on the trace's own clock, sizes in whole nodes. What
each column means, its unit, its default and where it stands in SWF and MWF is data, in
``fields.csv``; readers, validation and the reference page are driven by it.
"""
