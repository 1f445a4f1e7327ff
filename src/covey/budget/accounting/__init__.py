"""COST: what events, plans, samples and groups cost together; promises and their types. Proofs beside the code."""
