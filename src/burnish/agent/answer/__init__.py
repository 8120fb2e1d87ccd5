"""From an answer to code: what wraps it is taken off, what is bent is put right, what cannot be used is named."""
