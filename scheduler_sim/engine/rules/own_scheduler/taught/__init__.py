"""What the compiler is taught, so that a scheduler's methods compile: loaded where one is compiled."""
