"""A scheduler of the user's own: it is told what has happened, and says in each pass who starts."""
