"""When waiting jobs will start: many small simulations of what may come, from one instant on."""
