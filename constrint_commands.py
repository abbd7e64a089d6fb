"""The commands' first lines: from here on, Ctrl-C ends them without a traceback, also while modules load.

It stands outside of the packages, whose own modules are loaded before anything in them is run.
"""

import os
import signal


def _end(*_: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored, as after `nohup … &`
    signal.signal(signal.SIGINT, _end)


def constrint() -> None:
    """The command `constrint`."""
    from constrint.cli.main import main

    main()


def fzn_constrint() -> None:
    """The command `fzn-constrint`."""
    from constrint.cli.flatzinc import main

    main()


def kerneltune() -> None:
    """The command `kerneltune`."""
    from kerneltune.cli.main import main

    main()
