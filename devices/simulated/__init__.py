"""A simulated table behind the same wires as the real one: camera, buttons, lights and dice over one physical world."""
