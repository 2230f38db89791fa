"""Limits of QOS and associations: who must wait though there are nodes."""
