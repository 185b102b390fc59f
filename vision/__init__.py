"""Picture to reading: no input or output, no game rules."""
