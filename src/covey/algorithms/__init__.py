"""PAPERS: one file for each algorithm. They talk to a curator, and read like their papers; `registry` lists them."""
