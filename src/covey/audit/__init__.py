"""Attacks on Covey's own privacy. An algorithm that is in the registry is audited, with no further code.

`replay` freezes what was released and asks whether neighbours lead to the same questions, and to statistics within
their sensitivity; `transcript` computes the exact privacy loss of recorded runs. Both rest on `watch`, which records
a run on a `tape`, and on `families`, the hard pairs of neighbours. `blackbox` sees releases only. Only made-up rows
come here.
"""
