"""Types of application: which one a job is of, and what it asks for on each module."""
