"""Small web apps from one sentence: a blueprint, modules behind contracts, four checkpoints, one verdict."""
