"""`python -m kerneltune.cli`: the `kerneltune` command."""

from constrint.support.children import leave_current_folder

if __name__ == "__main__":
    leave_current_folder()

    from kerneltune.cli.main import main

    main()
