"""`python -m kerneltune`: the `kerneltune` command."""

from kerneltune.cli.main import main

if __name__ == "__main__":
    main()
