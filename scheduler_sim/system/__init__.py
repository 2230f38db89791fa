"""The machine: modules of identical nodes, the partitions into them, and what they share."""
