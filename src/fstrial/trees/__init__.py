"""Source trees: files of this machine, a folder, a tarball, or generated; a share of them, as a manifest."""
