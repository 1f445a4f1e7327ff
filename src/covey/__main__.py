"""`python -m covey` is `covey`."""

from covey.cli.main import main

if __name__ == "__main__":
    main()
