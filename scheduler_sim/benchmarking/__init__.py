"""Results of benchmarks over time: reading JUBE's tables, a store that grows, and steps in its series."""
