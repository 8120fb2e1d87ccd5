"""From a blueprint to the files of an app."""
