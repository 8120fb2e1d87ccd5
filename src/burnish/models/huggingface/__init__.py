"""`huggingface:…`: Transformers in this process, for big tables on a GPU. Imported only when asked for by name."""
