"""Command words, TOML and catalogues become a Plan; a Plan becomes an ordered schedule of trials."""
