"""Tables, pictures and hints, made from finished results alone."""
