"""Where projects and versions run: one or many versions of a module, or of one file of a project, with their tests."""
