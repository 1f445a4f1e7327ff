"""`covey bench aaai21`: max cover against its comparator (Nguyen, Chaturvedi and Xu 2021)."""
