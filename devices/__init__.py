"""The wire: cameras, buttons, lights and serial devices, real or simulated, opened by URL."""
