"""Jobs that start by one plan, at once or each some time after the others."""
