"""Candidates without a model: small edits of source, generated calls, and groups of versions that behave alike."""
