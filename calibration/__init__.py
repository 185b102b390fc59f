"""What the table is and how this camera sees it: board specs, lens, colours, versioned profiles."""
