"""Nodes that jobs share, by the rules of select/cons_tres and select/cons_res of Slurm 22.05."""
