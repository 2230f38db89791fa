"""What sacctmgr and scontrol print of a site: accounts, QOS, reservations, node events; scripts for sacctmgr.

Rules from the sources and manual pages of Slurm 22.05. The readers give plain mappings, in the form that
policies and systems take them.
"""
