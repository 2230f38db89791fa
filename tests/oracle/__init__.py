"""A slow, plain reference scheduler, written from the rules alone and for reading."""
