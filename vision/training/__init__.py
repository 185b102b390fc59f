"""Makes the small networks in `vision/models` from simulated pictures and the photographs of dice_nell alone."""
