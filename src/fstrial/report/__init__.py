"""For people: terminal, HTML, Markdown."""
