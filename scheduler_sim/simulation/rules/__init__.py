"""The numbers that the rules of the engine read, a file for each rule."""
