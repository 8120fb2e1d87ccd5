"""`burnish ui`: all of it in a web page, for people who never open a terminal.

A page is one more reader of the events of a run. A view is one file in `views`, and names its own place in the menu.
"""
