"""Rules: each a part of the state, and what it does at which moment."""
