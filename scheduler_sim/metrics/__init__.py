"""Numbers that sum up a schedule: of jobs, of workflows, of modules, of energy."""
