"""Schedulers of the user's own: what they are shown, what they may ask for, and how they are called."""
