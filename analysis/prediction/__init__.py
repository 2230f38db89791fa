"""How good predictions of starts are, on the last part of three traces that nothing was learnt from."""
