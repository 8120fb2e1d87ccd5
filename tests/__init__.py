"""The tests mirror src/burnish; journeys/ holds whole stories through the public door."""
