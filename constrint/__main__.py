"""`python -m constrint`: the `constrint` command."""

from constrint.cli.main import main

if __name__ == "__main__":
    main()
