"""From a sentence to a blueprint: wishes that rules read, tables that a model names, switches for what was assumed."""
